// A journal on disk: what was recorded is replayed; torn ends are cut; damage is reported with its position; the
// limits hold.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include "base/executor.h"
#include "engine/support/build.h"
#include "journal/file_sink.h"
#include "journal/journal.h"
#include "journal/reader.h"
#include "journal/recorded_queue.h"
#include "journal/replay.h"
#include "journal/segment_files.h"
#include "source_dir.h"

namespace berth::journal::journal_files_test {
namespace {

namespace fs = std::filesystem;
namespace test = engine::test;
using engine::Event;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();

using testing_support::Directory;

struct Recorded : testing_support::RecordedQueue {
  Recorded(const std::string& directory, FileLimits files, JournalLimits limits)
      : RecordedQueue(kStart, directory, files, limits) {}
};

std::vector<SegmentFile> segments(const Directory& directory) { return list_segments(directory.path()).value(); }

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

SegmentReplay replay(const std::string& bytes) {
  std::istringstream in(bytes);
  return replay_segment(in, "segment", {}).segment;
}

// A journal with one closed segment: its bytes.
std::string one_segment() {
  const Directory directory;
  {
    Recorded recorded(directory.path(), {}, {});
    for (int i = 0; i < 6; ++i) {
      recorded.submit(i);
      recorded.wait(std::chrono::seconds(2));
    }
  }
  return read(segments(directory).at(0).path);
}

TEST(JournalFiles, WhatWasRecordedIsReplayed) {
  const Directory directory;
  {
    Recorded recorded(directory.path(), {}, {});
    for (int i = 0; i < 3; ++i) recorded.submit(i);
    recorded.wait(std::chrono::minutes(1));
    EXPECT_TRUE(recorded.engine().settled());
    recorded.checkpoint();
    for (int i = 3; i < 9; ++i) recorded.submit(i);
  }
  const auto all = replay_all(directory.path(), {});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->size(), 2u);
  for (const auto& segment : *all) {
    EXPECT_TRUE(segment.good()) << segment.damage << (segment.difference ? describe(*segment.difference) : "");
    EXPECT_TRUE(segment.closed);
    EXPECT_EQ(segment.version, "1.2.3");
    EXPECT_GT(segment.compared, 0u);
  }
  EXPECT_EQ(all->at(0).decisions, 3u);
  EXPECT_EQ(all->at(1).decisions, 1u);  // quota for four
  EXPECT_GE(all->at(1).checkpoint_events, 8u);
}

TEST(JournalFiles, TheStateOfAMomentComesBack) {
  const Directory directory;
  {
    Recorded recorded(directory.path(), {}, {});
    for (int i = 0; i < 6; ++i) {
      recorded.submit(i);
      recorded.wait(std::chrono::minutes(1));
    }
  }
  const auto at = [&](int minutes) {
    auto replayed = replay_until(directory.path(), kStart + std::chrono::minutes(minutes) + std::chrono::seconds(30));
    EXPECT_TRUE(replayed.has_value());
    return replayed->engine->cluster_queue_status("cq").value();
  };
  EXPECT_EQ(at(0).reserving, 1);
  EXPECT_EQ(at(2).reserving, 3);
  EXPECT_EQ(at(5).reserving, 4);
  EXPECT_EQ(at(5).pending, 2);
  EXPECT_FALSE(replay_until(directory.path(), kStart - std::chrono::hours(1)).has_value());
}

TEST(JournalFiles, FilesArePrivate) {
  const Directory directory;
  Recorded(directory.path(), {}, {}).submit(1);
  struct stat status{};
  ASSERT_EQ(::stat(directory.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(segments(directory).at(0).path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(JournalFiles, ATornEndIsCut) {
  const std::string bytes = one_segment();
  const auto whole = replay(bytes);
  ASSERT_TRUE(whole.good() && whole.closed);
  for (std::size_t size = kSignatureSize; size < bytes.size(); ++size) {
    const auto torn = replay(bytes.substr(0, size));
    ASSERT_TRUE(torn.good()) << size << ": " << torn.damage;
    ASSERT_FALSE(torn.closed);
    ASSERT_LE(torn.compared, whole.compared);
  }
  EXPECT_EQ(replay(bytes.substr(0, bytes.size() - kChunkHeadSize)).compared, whole.compared);
  EXPECT_GT(replay(bytes.substr(0, bytes.size() - kChunkHeadSize - 1)).cut_bytes, 0u);
  // A file system that lost the end of the file but not its size.
  EXPECT_TRUE(replay(bytes.substr(0, bytes.size() - kChunkHeadSize) + std::string(5'000, '\0')).good());
}

TEST(JournalFiles, AFlippedBitIsReportedWithItsPosition) {
  const std::string bytes = one_segment();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    const auto result = replay(damaged);
    ASSERT_FALSE(result.good()) << "byte " << at;
    ASSERT_EQ(result.damage.find("segment: "), 0u) << result.damage;
    if (at < kSignatureSize) continue;
    // The position that is named is that of the chunk, or of its payload: not after the damage, and near to it.
    const auto named = result.damage.find("at byte ");
    ASSERT_NE(named, std::string::npos) << result.damage;
    ASSERT_LE(std::stoul(result.damage.substr(named + 8)), at) << result.damage;
  }
}

TEST(JournalFiles, AnotherDecisionIsReported) {
  // The same records, but the header says that the engine had another option.
  const Directory directory;
  {
    VirtualExecutor executor(kStart);
    Journal journal(executor, std::make_unique<FileSink>(directory.path(), FileLimits()), "1.2.3", {});
    engine::Engine engine{engine::Options()};
    engine::Options other;
    other.resources.exclude_prefixes = {"cpu"};
    journal.begin(other);
    const auto feed = [&](const Event& event) { journal.handled(kStart, event, engine.handle(kStart, event)); };
    feed(engine::NamespaceSeen{"ns", {}});
    feed(engine::ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    feed(engine::ClusterQueueSeen{
        std::make_shared<const api::kueue::ClusterQueue>(test::ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build())});
    feed(engine::LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
    feed(engine::WorkloadSeen{
        std::make_shared<const api::kueue::Workload>(test::WorkloadBuilder("w", "q").pods(1, "9").build())});
    feed(engine::Synced{});
    journal.checkpoint_done();
    journal.scheduled(kStart, engine.schedule(kStart));
  }
  const auto all = replay_all(directory.path(), {}).value();
  ASSERT_TRUE(all.at(0).difference.has_value());
  const Difference& difference = *all.at(0).difference;
  EXPECT_EQ(difference.call, "round");
  EXPECT_EQ(difference.record, 8u);
  EXPECT_EQ(difference.at, kStart);
  EXPECT_TRUE(difference.expected.empty());
  ASSERT_EQ(difference.came.size(), 1u);
  EXPECT_EQ(difference.came[0].workload, "ns/w");
  EXPECT_NE(describe(difference).find("record 8 (chunk at byte "), std::string::npos) << describe(difference);
}

TEST(JournalFiles, TheLimitOfTheSizeHolds) {
  const Directory directory;
  SegmentFiles files(directory.path(), {40'000, std::chrono::hours(1'000)});
  std::string noise;
  for (std::uint32_t i = 0, x = 1; i < 3'000; ++i) noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  const auto total = [&] {
    std::uint64_t sum = 0;
    for (const auto& segment : segments(directory)) sum += segment.size;
    return sum;
  };
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(files.begin(kStart + std::chrono::minutes(i), "header").has_value());
    for (int j = 0; j < 3; ++j) {
      ASSERT_TRUE(files.append(noise).has_value());
      ASSERT_LE(total(), 40'000u);
      ASSERT_EQ(total(), files.total_size());
    }
  }
  EXPECT_GE(segments(directory).size(), 3u);
  // A segment that may not grow further is left as it is; the next one pushes it out.
  Result<void> full;
  while (full) full = files.append(noise);
  EXPECT_NE(full.error().message.find("limit"), std::string::npos);
  EXPECT_LE(total(), 40'000u);
  EXPECT_EQ(segments(directory).size(), 1u);
  EXPECT_FALSE(files.append("x").has_value());
  EXPECT_TRUE(files.begin(kStart + std::chrono::hours(1), "header").has_value());
  EXPECT_TRUE(files.append(noise).has_value());
  EXPECT_LE(total(), 40'000u);
}

TEST(JournalFiles, OldSegmentsAreDeleted) {
  const Directory directory;
  SegmentFiles files(directory.path(), {1u << 20, std::chrono::hours(10)});
  for (int hour = 0; hour < 40; ++hour)
    ASSERT_TRUE(files.begin(kStart + std::chrono::hours(hour), "header").has_value());
  const auto left = segments(directory);
  // The oldest one ended ten hours ago.
  EXPECT_EQ(left.front().began, kStart + std::chrono::hours(28));
  EXPECT_EQ(left.back().began, kStart + std::chrono::hours(39));
}

TEST(JournalFiles, ADirectoryHasOneWriter) {
  const Directory directory;
  SegmentFiles first(directory.path(), {}), second(directory.path(), {});
  ASSERT_TRUE(first.begin(kStart, "header").has_value());
  const auto refused = second.begin(kStart, "header");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("another process"), std::string::npos);
}

TEST(JournalFiles, ADirectoryThatCannotBeMadeStopsRecordingUntilItCan) {
  const Directory directory;
  std::ofstream(directory.path()) << "a file";
  VirtualExecutor executor(kStart);
  Journal journal(executor, std::make_unique<FileSink>(directory.path() + "/journal", FileLimits()), "1", {});
  engine::Engine engine{engine::Options()};
  journal.begin({});
  journal.checkpoint_done();
  // The thread reports its error some time later.
  const auto wait_for = [&](const auto& condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i) {
      journal.scheduled(executor.now(), engine.schedule(executor.now()));
      executor.run_until(executor.now() + std::chrono::seconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
  };
  ASSERT_TRUE(wait_for([&] { return !journal.state().recording; }));
  executor.run_until(executor.now() + std::chrono::minutes(3));
  EXPECT_EQ(journal.wish(), Journal::Wish::kNone);  // no checkpoint in vain
  fs::remove(directory.path());
  ASSERT_TRUE(wait_for([&] { return journal.wish() != Journal::Wish::kNone; }));
  journal.begin({});
  journal.checkpoint_done();
  EXPECT_TRUE(journal.state().recording);
  EXPECT_EQ(journal.wish(), Journal::Wish::kNone);
}

// What older versions wrote stays readable: see fields.h. The decisions of that file may come out differently one day;
// its records may not.
TEST(JournalFiles, AnOlderJournalIsRead) {
  std::ifstream in(source_path("tests/journal/golden/format-1.journal"), std::ios::binary);
  SegmentReader reader(in, "golden");
  const auto header = reader.open();
  ASSERT_TRUE(header.has_value()) << header.error().message;
  EXPECT_EQ((**header).version, "0.1.0");
  EXPECT_TRUE((**header).options.wait_for_pods_ready.enabled);
  std::size_t events = 0, rounds = 0, decisions = 0;
  std::set<std::string> workloads;
  while (true) {
    const auto record = reader.next();
    ASSERT_TRUE(record.has_value()) << record.error().message;
    if (*record == nullptr) break;
    ((*record)->kind == Record::Kind::kRound ? rounds : events) += 1;
    decisions += (*record)->decisions.size();
    const auto* seen = std::get_if<engine::WorkloadSeen>(&(*record)->event);
    if (seen == nullptr) continue;
    workloads.insert(seen->object->meta.uid);
    EXPECT_EQ(seen->object->pod_sets.at(0).name, "main");
    EXPECT_TRUE(seen->object->active);
    EXPECT_FALSE(seen->object->queue_name.empty());
  }
  EXPECT_TRUE(reader.closed());
  EXPECT_EQ(events, 483u);  // one is the end of the checkpoint
  EXPECT_EQ(rounds, 186u);
  EXPECT_EQ(decisions, 43u);
  EXPECT_EQ(workloads.size(), 10u);
}

}  // namespace
}  // namespace berth::journal::journal_files_test
