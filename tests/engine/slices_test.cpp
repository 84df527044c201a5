// Slices of elastic jobs (KEP-77): a job that grows asks for the difference, and its quota is never counted twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"
#include "engine/support/slices.h"

namespace berth::engine::slices_test {
namespace {

using test::ClusterQueueBuilder;
using test::OneQueue;
using test::Scenario;
using test::Workload;
using test::WorkloadBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A slice of the job "job".
Workload slice(const std::string& name, int pods, const std::string& replaces = "", int created = 0) {
  Workload w = WorkloadBuilder(name).pods(pods, "1").created(test::at(created));
  return test::as_slice(std::move(w), replaces);
}

// The CPUs that are reserved.
std::string totals(const Scenario& s) {
  const auto usage = s.cluster_queue("cq").reservation;
  std::string text = test::totals(usage);
  return text.substr(text.find('=') + 1);
}

constexpr std::string_view kByB =
    "True WorkloadSliceReplaced: Replaced to accommodate a workload (UID: uid-b, JobUID: job) due to workload slice "
    "aggregation";

// 4 CPUs, of which the slice "a" holds 2.
struct Growing : OneQueue {
  Growing() {
    give(slice("a", 2));
    run();
    EXPECT_EQ(state("a"), "Admitted");
    take_events();
  }
};

TEST(Slices, AskForTheDifferenceAndTakeTheOldOnesPlace) {
  Growing s;
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.condition("a", "Finished"), kByB);
  EXPECT_EQ(totals(s), "4");
  const auto events = s.take_events();
  EXPECT_THAT(events, Contains("Workload/a Normal WorkloadSliceReplaced: " + std::string(kByB.substr(28))));
}

TEST(Slices, WaitForTheDifferenceWhileTheOldOneRuns) {
  Growing s;
  s.give(WorkloadBuilder("other").pods(2, "1"));
  s.run();
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.condition("b", "QuotaReserved"),
            "False WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in "
            "flavor f, 2 more needed");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(totals(s), "4");
  s.finish("other");
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.condition("a", "Finished"), kByB);
}

TEST(Slices, LackTheDifferenceAndNameNotTheOldOneAsAHolder) {
  Growing s;
  s.give(WorkloadBuilder("other").pods(2, "1"));
  s.run();
  s.give(slice("b", 4, "a", 1));
  s.run();
  const auto why = s.engine().explain(s.now(), "ns", "b");
  ASSERT_TRUE(why);
  ASSERT_EQ(why->shortages.size(), 1u);
  const auto& lack = why->shortages.front();
  EXPECT_EQ(format_amount("cpu", lack.wanted), "4");
  EXPECT_EQ(format_amount("cpu", lack.available), "2") << "what the old one holds is free for it";
  EXPECT_EQ(format_amount("cpu", lack.missing), "2");
  ASSERT_EQ(lack.holders.size(), 1u);
  EXPECT_EQ(lack.holders.front().workload, "ns/other");
  std::vector<std::string> changes;
  for (const auto& change : why->changes) changes.push_back(change.text);
  EXPECT_THAT(changes, ElementsAre("Raise the nominalQuota of ClusterQueue cq: cpu of flavor f from 4 to 6.",
                                   "End or preempt workload ns/other."));
}

TEST(Slices, MayNotUseAnotherFlavor) {
  Growing s;
  s.give(test::flavor("g"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "3"}, {"g", "9"}}).version("2").build());
  s.give(slice("b", 4, "a", 1));
  s.run();
  const auto why = s.engine().explain(s.now(), "ns", "b");
  ASSERT_TRUE(why);
  ASSERT_EQ(why->shortages.size(), 2u);
  EXPECT_EQ(format_amount("cpu", why->shortages[0].missing), "1");
  EXPECT_EQ(why->shortages[1].mismatch, "the pods that run have flavor f");
}

TEST(Slices, OneThatNeedsNoMoreFitsAtOnce) {
  Growing s;
  s.give(WorkloadBuilder("other").pods(2, "1"));
  s.run();
  s.give(slice("b", 4, "a", 1));
  s.run();
  s.change("b", [](Workload& w) { w.pod_sets[0].count = 1; }, true);
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Finished");
  EXPECT_EQ(totals(s), "3");
}

TEST(Slices, ThatShrinkGiveQuotaBackAtOnce) {
  Growing s;
  s.give(WorkloadBuilder("other").pods(3, "1"));
  s.run();
  EXPECT_EQ(s.state("other"), "Pending");
  s.change("a", [](Workload& w) { w.pod_sets[0].count = 1; }, true);
  s.run();
  EXPECT_EQ(s.state("other"), "Admitted");
  EXPECT_EQ(s.workload("a").status.admission->pod_set_assignments[0].count, 2) << "the admission stays";
  EXPECT_EQ(totals(s), "4");
}

TEST(Slices, ToZeroAndBack) {
  Growing s;
  s.change("a", [](Workload& w) { w.pod_sets[0].count = 0; }, true);
  s.run();
  EXPECT_EQ(totals(s), "0");
  EXPECT_EQ(s.state("a"), "Admitted");
  s.give(slice("b", 3, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(totals(s), "3");
}

TEST(Slices, KeepTheFlavor) {
  OneQueue s;
  s.give(test::flavor("second"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}, {"second", "4"}}).version("2").build());
  s.give(slice("a", 2));
  s.give(WorkloadBuilder("other").pods(2, "1"));
  s.run();
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_THAT(s.condition("b", "QuotaReserved"),
              HasSubstr("could not assign second flavor since the original workload is assigned: f"));
  s.finish("other");
  s.run();
  EXPECT_EQ(s.flavor_of("b"), "f");
}

// While the reservation of the new one is written, nobody may have the quota of both, nor that of the old one.
TEST(Slices, ChangePlacesInOneStepAndChangeBackWhenTheWriteFails) {
  Growing s;
  bool refused = true;
  s.outcome_of_write = [&](const std::string& name) {
    return name == "b" && refused ? OneQueue::Outcome::kFailed : OneQueue::Outcome::kDone;
  };
  s.give(slice("b", 4, "a", 1));
  s.run_once();
  EXPECT_FALSE(s.engine().holds_quota("ns", "a")) << "decided, and not written yet";
  for (int i = 0; i < 200; ++i) s.pass(1);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_TRUE(s.engine().holds_quota("ns", "a"));
  EXPECT_EQ(totals(s), "2");
  refused = false;
  for (int i = 0; i < 70; ++i) s.pass(1);
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Finished");
}

TEST(Slices, TheOldOneFinishesAfterTheReservationIsWritten) {
  Growing s;
  std::vector<std::string> written;
  s.outcome_of_write = [&](const std::string& name) {
    written.push_back(name);
    return OneQueue::Outcome::kDone;
  };
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_THAT(written, ElementsAre("b", "a"));
}

TEST(Slices, ARestartBetweenTheTwoWritesFinishesTheOldOne) {
  Growing s;
  bool down = true;
  s.outcome_of_write = [&](const std::string& name) {
    return name == "a" && down ? OneQueue::Outcome::kFailed : OneQueue::Outcome::kDone;
  };
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(totals(s), "4") << "the old one holds nothing any more";
  EXPECT_FALSE(s.engine().holds_quota("ns", "a"));
  EXPECT_TRUE(s.engine().holds_quota("ns", "b"));
  down = false;
  s.restart();
  s.run();
  EXPECT_EQ(s.condition("a", "Finished"), kByB);
  EXPECT_EQ(totals(s), "4");
}

TEST(Slices, PreemptForTheDifference) {
  OneQueue s;
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).preempt_lower().version("2").build());
  s.give(slice("a", 2));
  s.give(WorkloadBuilder("low").pods(2, "1").priority(-1));
  s.run();
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Finished");
  EXPECT_EQ(s.state("low"), "Pending");
}

TEST(Slices, PreemptNewerOnesOfTheSamePriorityWhereTheirQueueAllowsIt) {
  OneQueue s;
  auto queue = ClusterQueueBuilder("cq").cpu({{"f", "4"}}).version("2").build();
  queue.within_cluster_queue = api::kueue::WithinClusterQueue::kLowerOrNewerEqualPriority;
  s.give(queue);
  s.give(slice("a", 2));
  s.give(WorkloadBuilder("newer").pods(2, "1").created(test::at(9)));
  s.run();
  EXPECT_EQ(s.state("newer"), "Admitted");
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Finished");
  EXPECT_EQ(s.state("newer"), "Pending");
}

TEST(Slices, WaitForMoreQuotaThanThereEverWillBe) {
  Growing s;
  s.give(slice("b", 7, "a", 1));
  s.run();
  EXPECT_THAT(s.condition("b", "QuotaReserved"), testing::StartsWith("False ExceedsMaxQuota: "));
  EXPECT_EQ(s.state("a"), "Admitted");
}

// The job of the slice that is evicted stops first.
TEST(Slices, WaitWhileTheOldOneIsEvicted) {
  OneQueue s;
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).preempt_lower().version("2").build());
  s.give(slice("a", 2));
  s.run();
  s.jobs_stop_at_once = false;
  s.give(slice("b", 4, "a", 1));
  s.give(WorkloadBuilder("high").pods(3, "1").priority(1));
  s.run();
  EXPECT_EQ(s.state("a"), "Evicting");
  EXPECT_EQ(s.state("b"), "Pending");
  s.report_stopped("a");
  s.run();
  EXPECT_EQ(s.state("high"), "Admitted");
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_EQ(totals(s), "3");
}

TEST(Slices, NobodyReplacesWorkloadsOfOtherJobsItselfOrEachOther) {
  Growing s;
  Workload stranger = slice("stranger", 2, "a", 1);
  stranger.meta.owners[0].uid = "another";
  s.give(stranger);
  s.give(slice("self", 1, "self", 2));
  s.run();
  EXPECT_EQ(s.state("stranger"), "Admitted");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.state("self"), "Pending");
  EXPECT_EQ(totals(s), "4");
  s.finish("stranger");
  s.change("a", [](Workload& w) { w.meta.annotations["kueue.x-k8s.io/workload-slice-replacement-for"] = "ns/b"; });
  s.give(slice("b", 1, "a", 3));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(totals(s), "4") << "a and b name each other: both count";
}

TEST(Slices, OfTwoSuccessorsOneTakesThePlaceAndTheOtherCountsInFull) {
  Growing s;
  s.give(slice("b", 3, "a", 1));
  s.give(slice("c", 4, "a", 2));
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Finished");
  EXPECT_EQ(s.state("c"), "Pending");
  EXPECT_EQ(totals(s), "3");
}

TEST(Slices, WithoutTheGateTheAnnotationsMeanNothing) {
  Options options;
  options.elastic_jobs = false;
  Scenario s(options);
  s.give(test::flavor("f"));
  s.give(OneQueue::queue());
  s.give(test::local_queue("q", "cq"));
  s.give(slice("a", 2));
  s.give(slice("b", 4, "a", 1));
  s.run();
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(Slices, SurviveCopiesRenumberingAndReplay) {
  Growing s;
  s.copy();
  s.give(WorkloadBuilder("other").pods(2, "1"));
  s.give(slice("b", 4, "a", 1));
  s.run();
  s.restart();
  s.run();
  s.renumber();
  s.run();
  s.make_anew();
  s.run();
  EXPECT_EQ(s.state("b"), "Pending");
  s.finish("other");
  s.run();
  EXPECT_EQ(s.state("b"), "Admitted");
  EXPECT_EQ(s.state("a"), "Finished");
}

}  // namespace
}  // namespace berth::engine::slices_test
