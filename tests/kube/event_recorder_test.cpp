#include "kube/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/fake_rest_client.h"

namespace berth::kube::event_recorder_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class EventRecorderTest : public testing::Test {
 protected:
  void make(EventRecorderOptions options = {}) {
    recorder = std::make_unique<EventRecorder>(client, executor, std::move(options));
  }
  void record(std::string name, std::string note = "Admitted by clusterQueue q", std::string reason = "Admitted") {
    recorder->record({"kueue.x-k8s.io/v1beta2", "Workload", "ns", std::move(name), "uid-1"},
                     {false, std::move(reason), std::move(note), "", "kueue-admission"});
    ASSERT_TRUE(executor.run_ready(1000));
  }

  VirtualExecutor executor{*parse_time("2026-11-21T09:30:00Z")};
  FakeRestClient client{executor};
  std::unique_ptr<EventRecorder> recorder;
};

TEST_F(EventRecorderTest, WritesEventsV1) {
  make({.instance = "berth-1"});
  record("w");
  const auto request = client.answer({201, nullptr, {}});
  EXPECT_EQ(request.verb, api::Verb::kCreate);
  EXPECT_EQ(request.resource.group, "events.k8s.io");
  EXPECT_EQ(request.ns, "ns");
  Json event = request.body;
  const std::string name(string_at(event, {"metadata", "name"}));
  EXPECT_TRUE(name.starts_with("w.")) << name;
  EXPECT_EQ(name.size(), 18u);
  ensure_path(event, {"metadata", "name"}) = "x";
  EXPECT_EQ(
      to_string(event),
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"x","namespace":"ns"},"eventTime":"2026-11-21T09:30:00.000000Z",)"
      R"("reportingController":"kueue-admission","reportingInstance":"berth-1","action":"Admitted","reason":"Admitted","regarding":)"
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"w","uid":"uid-1","namespace":"ns"},)"
      R"("note":"Admitted by clusterQueue q","type":"Normal"})");
}

TEST_F(EventRecorderTest, SaysWhenEverythingIsWritten) {
  make({.in_flight = 1});
  record("a");
  record("b");
  int written = 0;
  recorder->when_written([&] { ++written; });
  ASSERT_TRUE(executor.run_ready(10));
  EXPECT_EQ(written, 0);
  client.answer({201, nullptr, {}});
  EXPECT_EQ(written, 0);
  client.answer({403, nullptr, {}});
  EXPECT_EQ(written, 1);
  recorder->when_written([&] { ++written; });
  ASSERT_TRUE(executor.run_ready(10));
  EXPECT_EQ(written, 2);
}

TEST_F(EventRecorderTest, NotesAreCutAndClusterScopedObjectsReportInDefault) {
  make();
  recorder->record({"v1", "Node", "", "n", "u"}, {true, "R", std::string(2000, 'x'), "Act", ""});
  ASSERT_TRUE(executor.run_ready(10));
  const auto request = client.answer({201, nullptr, {}});
  EXPECT_EQ(request.ns, "default");
  EXPECT_EQ(string_at(request.body, {"note"}).size(), 1024u);
  EXPECT_EQ(string_at(request.body, {"action"}), "Act");
  EXPECT_EQ(string_at(request.body, {"type"}), "Warning");
  EXPECT_EQ(string_at(request.body, {"reportingController"}), "berth");
}

TEST_F(EventRecorderTest, RepeatedEventsBecomeOneSeries) {
  make();
  record("w");
  const std::string name(string_at(client.answer({201, nullptr, {}}).body, {"metadata", "name"}));
  executor.run_until(executor.now() + seconds(5));
  record("w");
  const auto second = client.answer({200, nullptr, {}});
  EXPECT_EQ(second.verb, api::Verb::kPatch);
  EXPECT_EQ(second.name, name);
  EXPECT_EQ(to_string(second.body), R"({"series":{"count":2,"lastObservedTime":"2026-11-21T09:30:05.000000Z"}})");
  // Further occurrences are written together at the end of the window.
  for (int i = 0; i < 10; ++i) record("w");
  EXPECT_TRUE(client.calls.empty());
  executor.run_until(executor.now() + minutes(6));
  EXPECT_EQ(int_at(client.answer({200, nullptr, {}}).body, {"series", "count"}), 12);
}

// Events differ if and only if the key of the Kubernetes recorder of this API differs.
TEST_F(EventRecorderTest, OtherObjectsVersionsReasonsActionsReportersTypesAndLaterTimesAreOtherEvents) {
  make();
  const ObjectRef about{"kueue.x-k8s.io/v1beta2", "Workload", "ns", "w", "uid-1", "7"};
  const EventText text{false, "Preempted", "by a", "Preempting", "kueue-admission"};
  recorder->record(about, text);
  for (const auto change : std::initializer_list<void (*)(ObjectRef&, EventText&)>{
           [](ObjectRef& o, EventText&) { o.api_version = "kueue.x-k8s.io/v1beta1"; },
           [](ObjectRef& o, EventText&) { o.kind = "Job"; }, [](ObjectRef& o, EventText&) { o.ns = "other"; },
           [](ObjectRef& o, EventText&) { o.name = "v"; }, [](ObjectRef& o, EventText&) { o.uid = "uid-2"; },
           [](ObjectRef& o, EventText&) { o.resource_version = "8"; },
           [](ObjectRef&, EventText& t) { t.warning = true; }, [](ObjectRef&, EventText& t) { t.reason = "Evicted"; },
           [](ObjectRef&, EventText& t) { t.action = "Evicting"; },
           [](ObjectRef&, EventText& t) { t.controller = "other"; }}) {
    ObjectRef other = about;
    EventText else_ = text;
    change(other, else_);
    recorder->record(other, else_);
  }
  ASSERT_TRUE(executor.run_ready(1000));
  for (int i = 0; i < 11; ++i) EXPECT_EQ(client.answer({201, nullptr, {}}).verb, api::Verb::kCreate);
  EXPECT_TRUE(client.calls.empty());
  executor.run_until(executor.now() + minutes(7));
  recorder->record(about, text);
  ASSERT_TRUE(executor.run_ready(1000));
  const auto later = client.answer({201, nullptr, {}});
  EXPECT_EQ(later.verb, api::Verb::kCreate);
  EXPECT_EQ(find_path(later.body, {"series"}), nullptr);
}

TEST_F(EventRecorderTest, OtherNotesAreTheSameEventAgain) {
  make();
  for (int victim = 1; victim <= 8; ++victim) {
    recorder->record(
        {"kueue.x-k8s.io/v1beta2", "Workload", "ns", "w", "uid-1", "7"},
        {false, "PreemptedWorkload", "Preempted workload ns/v" + std::to_string(victim), "", "kueue-admission"});
  }
  ASSERT_TRUE(executor.run_ready(1000));
  ASSERT_EQ(client.calls.size(), 1u);
  const auto created = client.answer({201, nullptr, {}});
  EXPECT_EQ(string_at(created.body, {"note"}), "Preempted workload ns/v1");
  EXPECT_EQ(string_at(created.body, {"regarding", "resourceVersion"}), "7");
  EXPECT_EQ(int_at(created.body, {"series", "count"}), 8);
  EXPECT_EQ(string_at(created.body, {"series", "lastObservedTime"}), "2026-11-21T09:30:00.000000Z");
  EXPECT_TRUE(client.calls.empty());
}

// A series has no maximum length: it ends only when the event stops for a window.
TEST_F(EventRecorderTest, ASeriesEndsAWindowAfterItsLastOccurrence) {
  make();
  record("w");
  client.answer({201, nullptr, {}});
  for (int i = 0; i < 10; ++i) {
    executor.run_until(executor.now() + minutes(5));
    record("w", "note " + std::to_string(i));
    while (!client.calls.empty()) EXPECT_EQ(client.answer({200, nullptr, {}}).verb, api::Verb::kPatch);
  }
  executor.run_until(executor.now() + minutes(6) + seconds(1));
  while (!client.calls.empty()) EXPECT_EQ(client.answer({200, nullptr, {}}).verb, api::Verb::kPatch);
  record("w");
  EXPECT_EQ(client.answer({201, nullptr, {}}).verb, api::Verb::kCreate);
}

TEST_F(EventRecorderTest, WhoRecordsByNoteHasAnEventForEach) {
  make();
  const auto say = [&](std::string note, std::string version) {
    EventText text{false, "SuccessfulCreate", std::move(note), "", "job-controller"};
    text.by_note = true;
    recorder->record({"batch/v1", "Job", "ns", "j", "uid-1", std::move(version)}, text);
    ASSERT_TRUE(executor.run_ready(1000));
  };
  say("Created pod: j-1", "1");
  say("Created pod: j-2", "1");
  EXPECT_EQ(client.answer({201, nullptr, {}}).verb, api::Verb::kCreate);
  EXPECT_EQ(client.answer({201, nullptr, {}}).verb, api::Verb::kCreate);
  say("Created pod: j-1", "2");
  EXPECT_EQ(client.answer({200, nullptr, {}}).verb, api::Verb::kPatch);
}

TEST_F(EventRecorderTest, RepeatsWhileTheFirstIsBeingWrittenAreNotLost) {
  make();
  record("w");
  record("w");
  record("w");
  ASSERT_EQ(client.calls.size(), 1u);
  client.answer({201, nullptr, {}});
  EXPECT_EQ(int_at(client.answer({200, nullptr, {}}).body, {"series", "count"}), 3);
}

TEST_F(EventRecorderTest, UnknownOutcomesAndServerErrorsAreTriedAgain) {
  make();
  record("w");
  client.answer({0, nullptr, {}});
  EXPECT_TRUE(client.calls.empty());
  executor.run_until(executor.now() + seconds(1));
  client.answer({500, nullptr, {}});
  executor.run_until(executor.now() + seconds(2));
  // The first try had reached the server.
  client.answer(api::already_exists({"events.k8s.io", "v1", "events"}, "w"));
  executor.run_until(executor.now() + minutes(1));
  EXPECT_TRUE(client.calls.empty());
  EXPECT_EQ(recorder->dropped(), 0u);
}

TEST_F(EventRecorderTest, GivesUpAfterSomeTriesAndAtOnceOnRefusals) {
  make();
  record("w");
  int tries = 0;
  for (; tries < 100; ++tries) {
    executor.run_until(executor.now() + minutes(1));
    if (client.calls.empty()) break;
    client.answer({503, nullptr, {}});
  }
  EXPECT_EQ(tries, 6);
  EXPECT_EQ(recorder->dropped(), 1u);
  record("v");
  client.answer({403, nullptr, {}});
  executor.run_until(executor.now() + minutes(1));
  EXPECT_TRUE(client.calls.empty());
  EXPECT_EQ(recorder->dropped(), 2u);
  // An event that was given up is forgotten: the next one starts a new series.
  record("v");
  EXPECT_EQ(client.answer({201, nullptr, {}}).verb, api::Verb::kCreate);
}

TEST_F(EventRecorderTest, ReportsOnceThatItMayNotWrite) {
  make();
  const auto refused = [&](std::string_view reason) {
    testing::internal::CaptureStderr();
    record("w-" + std::string(reason));
    client.answer({403, api::make_status(403, reason, "events.events.k8s.io is forbidden"), {}});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(refused("Forbidden"), testing::HasSubstr("bind Berth's user"));
  EXPECT_EQ(refused("Forbidden"), "");
}

TEST_F(EventRecorderTest, ATakenNameIsReplaced) {
  make();
  record("w");
  const auto first = client.answer({409, nullptr, {}});
  executor.run_until(executor.now() + seconds(1));
  const auto second = client.answer({201, nullptr, {}});
  EXPECT_NE(string_at(first.body, {"metadata", "name"}), string_at(second.body, {"metadata", "name"}));
}

TEST_F(EventRecorderTest, AnExpiredEventIsCreatedAnew) {
  make();
  record("w");
  client.answer({201, nullptr, {}});
  record("w");
  client.answer({404, nullptr, {}});
  executor.run_until(executor.now() + seconds(1));
  const auto request = client.answer({201, nullptr, {}});
  EXPECT_EQ(request.verb, api::Verb::kCreate);
  EXPECT_EQ(int_at(request.body, {"series", "count"}), 2);
}

TEST_F(EventRecorderTest, NeverHoldsMoreThanItsBound) {
  make({.queue_bound = 4, .in_flight = 2});
  for (int i = 0; i < 20; ++i) record("w" + std::to_string(i));
  EXPECT_EQ(client.calls.size(), 2u);
  EXPECT_EQ(recorder->dropped(), 14u);
  // The newest are kept.
  for (const std::string expected : {"w0", "w1", "w16", "w17", "w18", "w19"})
    EXPECT_EQ(string_at(client.answer({201, nullptr, {}}).body, {"regarding", "name"}), expected);
  EXPECT_TRUE(client.calls.empty());
}

TEST_F(EventRecorderTest, WritesNoMoreThanItsRate) {
  make({.in_flight = 100, .rate = {10, 5}});
  for (int i = 0; i < 20; ++i) record("w" + std::to_string(i));
  EXPECT_EQ(client.calls.size(), 5u);
  executor.run_until(executor.now() + seconds(1));
  EXPECT_EQ(client.calls.size(), 15u);
  executor.run_until(executor.now() + seconds(1));
  EXPECT_EQ(client.calls.size(), 20u);
  EXPECT_EQ(recorder->dropped(), 0u);
}

TEST_F(EventRecorderTest, InACrowdTheNewestAboutAnObjectReplacesTheOneBeforeIt) {
  make({.in_flight = 1, .crowd = 3});
  record("first");  // being sent
  record("w", "quota reserved", "QuotaReserved");
  record("w", "admitted", "Admitted");
  record("v", "quota reserved", "QuotaReserved");
  EXPECT_EQ(recorder->superseded(), 0u) << "three are no crowd";
  record("v", "admitted", "Admitted");
  record("w", "evicted", "Evicted");
  EXPECT_EQ(recorder->superseded(), 2u);
  std::vector<std::string> notes;
  while (!client.calls.empty()) {
    const auto request = client.answer({201, nullptr, {}});
    notes.push_back(std::string(string_at(request.body, {"regarding", "name"})) + ": " +
                    std::string(string_at(request.body, {"note"})));
  }
  notes.erase(notes.begin());
  EXPECT_EQ(notes, (std::vector<std::string>{"w: quota reserved", "v: admitted", "w: evicted"}));
  EXPECT_EQ(recorder->dropped(), 0u);
}

TEST_F(EventRecorderTest, AnswersAfterItsEndAreIgnored) {
  make();
  record("w");
  recorder.reset();
  client.answer({500, nullptr, {}});
  EXPECT_FALSE(executor.next_due());
}

}  // namespace
}  // namespace berth::kube::event_recorder_test
