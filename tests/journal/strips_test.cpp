// Strips of workloads, read from the records of a journal.
#include "journal/strips.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/meta.h"
#include "engine/support/build.h"
#include "journal/record.h"
#include "journal/recorded_queue.h"
#include "journal/segment_files.h"

namespace berth::journal::strips_test {
namespace {

namespace fs = std::filesystem;
namespace test = engine::test;
using api::kueue::Workload;
using std::chrono::seconds;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();
Time at(int second) { return kStart + seconds(second); }

// Writes segments, record by record.
class Written {
 public:
  Written() : files_(std::make_unique<SegmentFiles>(directory_.path(), FileLimits())) {}
  std::string path() const { return directory_.path(); }

  void begin(int second) {
    encoder_ = std::make_unique<RecordEncoder>(at(second));
    ASSERT_TRUE(files_->begin(at(second), encode_header({"1", at(second), {}})));
    event(second, engine::LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
  }
  void checkpoint(int second) {
    std::string bytes;
    encoder_->checkpoint(bytes, at(second));
    ASSERT_TRUE(files_->append(bytes));
  }
  void event(int second, const engine::Event& event, const engine::Effects& effects = {}) {
    std::string bytes;
    encoder_->event(bytes, at(second), event, effects);
    ASSERT_TRUE(files_->append(bytes));
  }
  void seen(int second, const Workload& w) { event(second, engine::WorkloadSeen{std::make_shared<const Workload>(w)}); }
  // A round that writes the status `after`, and the outcome of the write.
  void decided(int second, const Workload& before, const Workload& after, std::uint64_t write,
               engine::WriteSettled::Outcome outcome = engine::WriteSettled::Outcome::kDone) {
    std::string bytes;
    encoder_->round(bytes, at(second),
                    {engine::WriteWorkloadStatus{write, std::make_shared<const Workload>(before), after.status}});
    ASSERT_TRUE(files_->append(bytes));
    event(second + 1, engine::WriteSettled{write, outcome, "9", ""});
  }
  void close() { ASSERT_TRUE(files_->close()); }
  std::string file(std::size_t i) const { return list_segments(path()).value().at(i).path; }

 private:
  const testing_support::Directory directory_;
  std::unique_ptr<SegmentFiles> files_;
  std::unique_ptr<RecordEncoder> encoder_;
};

Workload workload(const std::string& name, int created, const std::string& uid = "") {
  auto w = test::WorkloadBuilder(name, "q").pods(1, "1").created(at(created)).build();
  w.meta.uid = uid.empty() ? name : uid;
  return w;
}

Workload with(Workload w, std::string_view type, bool status, const std::string& reason, int second) {
  std::erase_if(w.status.conditions, [&](const auto& c) { return c.type == type; });
  w.status.conditions.push_back({std::string(type), status, false, reason, "", at(second), 0});
  return w;
}

Workload reserved(Workload w, int second) {
  w.status.admission.emplace();
  w.status.admission->cluster_queue = "cq";
  return with(std::move(w), api::kueue::kQuotaReserved, true, "QuotaReserved", second);
}
Workload admitted(Workload w, int second) {
  return with(reserved(std::move(w), second), api::kueue::kAdmitted, true, "Admitted", second);
}
Workload released(Workload w, int second) {
  w.status.admission.reset();
  w = with(std::move(w), api::kueue::kAdmitted, false, "NoReservation", second);
  return with(std::move(w), api::kueue::kQuotaReserved, false, "Pending", second);
}
Workload finished(Workload w, const std::string& reason, int second) {
  return with(std::move(w), api::kueue::kFinished, true, reason, second);
}

StripAnswer all(StripReader& reader, StripQuestion question = {}) {
  if (question.to == Time()) question.to = at(1'000'000);
  for (int i = 0; i < 10'000; ++i) {
    auto answer = reader.ask(question);
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return {};
    if (*answer) return std::move(**answer);
  }
  ADD_FAILURE() << "no answer";
  return {};
}

// "waiting 0-5 admitted; admitted 5-"
std::string words(const Strip& strip) {
  std::string out;
  const auto second = [](Time t) { return std::to_string(std::chrono::duration_cast<seconds>(t - kStart).count()); };
  for (const auto& span : strip.spans)
    out += (out.empty() ? "" : "; ") + std::string(name(span.state)) + " " + second(span.from) + "-" +
           (span.to ? second(*span.to) + " " + span.end : "");
  return out;
}

TEST(Strips, FollowWhatTheWatchShows) {
  Written journal;
  journal.begin(0);
  journal.checkpoint(0);
  auto w = workload("w", 1);
  journal.seen(1, w);
  journal.seen(4, w = reserved(w, 4));
  journal.seen(6, w = admitted(w, 6));
  journal.seen(9, w = with(w, api::kueue::kEvicted, true, "PodsReadyTimeout", 9));
  journal.seen(12, w = released(w, 12));
  journal.seen(20, w = with(admitted(w, 20), api::kueue::kEvicted, false, "QuotaReserved", 20));
  journal.seen(30, finished(w, "Succeeded", 30));
  journal.event(40, engine::WorkloadGone{w.meta.ns, "w", "w"});
  journal.close();
  StripReader reader(journal.path());
  const auto answer = all(reader);
  ASSERT_EQ(answer.strips.size(), 1u);
  EXPECT_EQ(words(answer.strips[0]),
            "waiting 1-4 reserved; reserved 4-6 admitted; admitted 6-12 podsReadyTimeout; waiting 12-20 admitted; "
            "admitted 20-30 finished");
  EXPECT_EQ(answer.strips[0].cluster_queue, "cq");
  EXPECT_EQ(answer.strips[0].queue, "q");
  EXPECT_EQ(answer.kept_from, at(0));
  EXPECT_EQ(answer.kept_to, at(40));
  EXPECT_FALSE(answer.truncated);
  EXPECT_TRUE(answer.damaged.empty());
}

TEST(Strips, FollowDecisionsWhoseWriteSucceeded) {
  Written journal;
  journal.begin(0);
  journal.checkpoint(0);
  const auto w = workload("w", 1), v = workload("v", 1);
  journal.seen(1, w);
  journal.seen(1, v);
  journal.decided(5, w, admitted(w, 5), 1);
  journal.decided(7, v, admitted(v, 7), 2, engine::WriteSettled::Outcome::kConflict);
  journal.decided(9, admitted(w, 5), finished(admitted(w, 5), "Succeeded", 9), 3);
  StripReader reader(journal.path());
  const auto answer = all(reader);
  ASSERT_EQ(answer.strips.size(), 2u);
  EXPECT_EQ(words(answer.strips[0]), "waiting 1-") << answer.strips[0].name;
  EXPECT_EQ(words(answer.strips[1]), "waiting 1-5 admitted; admitted 5-9 finished");
}

TEST(Strips, AreJoinedAcrossSegments) {
  Written journal;
  journal.begin(0);
  journal.checkpoint(0);
  auto w = workload("w", 1), gone = workload("gone", 2);
  journal.seen(1, w);
  journal.seen(2, gone);
  journal.seen(5, w = admitted(w, 5));
  journal.begin(100);
  journal.seen(100, w);
  journal.seen(100, finished(admitted(workload("old", 0), 0), "Succeeded", 1));
  journal.checkpoint(100);
  journal.seen(110, finished(w, "Failed", 110));
  StripReader reader(journal.path(), {.most_strips = 1'000, .records = 1});
  const auto answer = all(reader);
  ASSERT_EQ(answer.strips.size(), 2u);
  EXPECT_EQ(words(answer.strips[0]), "waiting 1-5 admitted; admitted 5-110 failed");
  EXPECT_EQ(words(answer.strips[1]), "waiting 2-100 ");  // the journal does not say how
  // Only the segments of the time are read.
  StripReader other(journal.path());
  const auto late = all(other, {at(105), at(200), "", {}, 5});
  ASSERT_EQ(late.strips.size(), 1u);
  EXPECT_EQ(words(late.strips[0]), "admitted 5-110 failed");
  EXPECT_TRUE(all(other, {at(120), at(200), "", {}, 5}).strips.empty());
}

TEST(Strips, AreOfOneQueueAndOfNamespacesThatMayBeSeen) {
  Written journal;
  journal.begin(0);
  journal.checkpoint(0);
  auto w = workload("w", 1), other = workload("other", 2);
  other.meta.ns = "secret";
  journal.seen(1, w);
  journal.seen(2, admitted(other, 2));
  StripReader reader(journal.path());
  StripQuestion question;
  EXPECT_EQ(all(reader, question).strips.size(), 2u);
  question.may_see = [](std::string_view ns) { return ns != "secret"; };
  EXPECT_EQ(all(reader, question).strips.size(), 1u);
  question.cluster_queue = "another";
  EXPECT_TRUE(all(reader, question).strips.empty());
}

TEST(Strips, ASegmentThatGrowsIsReadOn) {
  Written journal;
  journal.begin(0);
  StripReader reader(journal.path());
  EXPECT_TRUE(all(reader).strips.empty());
  journal.checkpoint(0);
  auto w = workload("w", 1);
  journal.seen(1, w);
  EXPECT_EQ(words(all(reader).strips.at(0)), "waiting 1-");
  journal.seen(3, w = admitted(w, 3));
  EXPECT_EQ(words(all(reader).strips.at(0)), "waiting 1-3 admitted; admitted 3-");
  reader.rest();
  journal.seen(8, finished(w, "Succeeded", 8));
  EXPECT_EQ(words(all(reader).strips.at(0)), "waiting 1-3 admitted; admitted 3-8 finished");
  // Another life of the same name.
  journal.seen(9, workload("w", 9, "second"));
  journal.close();
  const auto answer = all(reader);
  ASSERT_EQ(answer.strips.size(), 2u);
  EXPECT_EQ(words(answer.strips[1]), "waiting 9-");
}

TEST(Strips, AreBounded) {
  Written journal;
  journal.begin(0);
  journal.checkpoint(0);
  for (int i = 0; i < 50; ++i) journal.seen(i, workload("w" + std::to_string(i), i));
  auto w = workload("restless", 60);
  for (int i = 0; i < 2'000; ++i) journal.seen(100 + i, i % 2 == 0 ? admitted(w, 100 + i) : released(w, 100 + i));
  StripReader reader(journal.path());
  const auto answer = all(reader, {at(0), at(10'000), "", {}, 10});
  EXPECT_TRUE(answer.truncated);
  ASSERT_EQ(answer.strips.size(), 10u);
  EXPECT_LE(answer.strips.back().spans.size(), 200u);
  EXPECT_TRUE(answer.strips.back().cut);
  EXPECT_EQ(answer.strips.front().name, "w41");
  // Too much for the memory: the newest segment is used, and older ones are not.
  journal.begin(5'000);
  journal.seen(5'000, workload("new", 4'999));
  journal.checkpoint(5'000);
  StripReader small(journal.path(), {.most_strips = 1, .records = 100});
  const auto little = all(small);
  EXPECT_TRUE(little.truncated);
  ASSERT_EQ(little.strips.size(), 1u);
  EXPECT_EQ(little.strips[0].name, "new");
}

TEST(Strips, OfDamagedAndForeignFiles) {
  Written journal;
  journal.begin(0);
  journal.checkpoint(0);
  journal.seen(1, workload("w", 1));
  journal.seen(2, workload("v", 2));
  journal.begin(100);
  journal.seen(100, workload("w", 1));
  journal.checkpoint(100);
  journal.close();
  const std::string first = journal.file(0);
  std::string bytes;
  {
    std::ifstream in(first, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  // Any length and any flipped byte: an answer, and where something is damaged, a sentence.
  for (std::size_t i = 0; i < bytes.size(); i += 5) {
    for (const bool cut : {true, false}) {
      std::string changed = cut ? bytes.substr(0, i) : bytes;
      if (!cut) changed[i] = static_cast<char>(changed[i] ^ 0x10);
      std::ofstream(first, std::ios::binary | std::ios::trunc) << changed;
      StripReader reader(journal.path());
      const auto answer = all(reader);
      EXPECT_GE(answer.strips.size(), 1u);
      if (!cut) {
        EXPECT_EQ(answer.damaged.size(), 1u) << i;
      }
    }
  }
  StripReader none(journal.path() + "/nothing");
  EXPECT_FALSE(none.ask({}));
  fs::create_directories(journal.path() + "/empty");
  StripReader empty(journal.path() + "/empty");
  EXPECT_FALSE(empty.ask({}));
}

}  // namespace
}  // namespace berth::journal::strips_test
