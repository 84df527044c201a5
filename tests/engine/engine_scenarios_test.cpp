// The whole engine in typical situations of Kueue: which workloads are admitted, which messages are written, what is
// counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::engine_scenarios_test {
namespace {

using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::OneQueue;
using test::Scenario;
using test::totals;
using test::WorkloadBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto kAdmittedCondition = "True Admitted: The workload is admitted";
constexpr auto kNoReservation = "False NoReservation: The workload has no reservation";

TEST(Basics, AnEmptyQueueIsReadyAndUnused) {
  OneQueue s;
  s.run();
  const auto cq = s.cluster_queue("cq");
  EXPECT_TRUE(cq.active);
  EXPECT_EQ(cq.reason + ": " + cq.message, "Ready: Can admit new workloads");
  EXPECT_EQ(totals(cq.reservation), "f/cpu=0");
  const auto lq = s.local_queue("q");
  EXPECT_EQ(lq.reason + ": " + lq.message, "Ready: Can submit new workloads to localQueue");
  EXPECT_EQ(totals(lq.usage), "f/cpu=0");
  EXPECT_THAT(s.touched_queues(), testing::IsSupersetOf({"cq", "ns/q"}));
}

TEST(Basics, WhatFitsIsAdmittedInOneWrite) {
  OneQueue s;
  s.give(WorkloadBuilder("one").pods(3, "1"));
  s.run();
  EXPECT_EQ(s.condition("one", "QuotaReserved"), "True QuotaReserved: Quota reserved in ClusterQueue cq");
  EXPECT_EQ(s.condition("one", "Admitted"), kAdmittedCondition);
  EXPECT_EQ(s.condition("one", "PodsReady"), "False WaitForStart: Not all pods are ready or succeeded");
  EXPECT_EQ(s.writes(), 1);
  const auto& assignment = s.workload("one").status.admission->pod_set_assignments.at(0);
  EXPECT_EQ(assignment.count, 3);
  EXPECT_EQ(assignment.flavors.at("cpu"), "f");
  EXPECT_EQ(assignment.resource_usage.at("cpu").to_string(), "3");
  EXPECT_THAT(
      s.take_events(),
      ElementsAre("Workload/one Normal QuotaReserved: Quota reserved in ClusterQueue cq, wait time since queued was "
                  "0s",
                  "Workload/one Normal Admitted: Admitted by ClusterQueue cq, wait time since reservation was 0s"));
  const auto cq = s.cluster_queue("cq");
  EXPECT_EQ(totals(cq.reservation), "f/cpu=3");
  EXPECT_EQ(totals(cq.usage), "f/cpu=3");
  EXPECT_EQ(cq.admitted, 1);
  EXPECT_EQ(cq.reserving, 1);
  EXPECT_EQ(cq.pending, 0);
}

TEST(Basics, WhatDoesNotFitWaitsAndSaysWhy) {
  OneQueue s;
  s.give(WorkloadBuilder("one").pods(3, "1"));
  s.run();
  s.take_events();
  s.give(WorkloadBuilder("two").pods(2, "1"));
  s.run();
  const std::string why =
      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 1 more needed";
  EXPECT_EQ(s.condition("two", "QuotaReserved"), "False WaitingForQuota: " + why);
  EXPECT_EQ(s.condition("two", "Admitted"), kNoReservation);
  ASSERT_EQ(s.workload("two").status.resource_requests.size(), 1u);
  EXPECT_EQ(s.workload("two").status.resource_requests[0].resources.at("cpu").to_string(), "2");
  EXPECT_THAT(s.take_events(), ElementsAre("Workload/two Warning WaitingForQuota: " + why));
  EXPECT_EQ(s.cluster_queue("cq").pending, 1);
  EXPECT_EQ(s.local_queue("q").pending, 1);
  const int writes = s.writes();
  s.pass(1200);
  EXPECT_EQ(s.writes(), writes) << "waiting costs nothing";
}

TEST(Basics, ReclaimedPodsFreeQuota) {
  OneQueue s;
  s.give(WorkloadBuilder("one").pods(3, "1"));
  s.give(WorkloadBuilder("two").pods(2, "1").created(test::at(1)));
  s.run();
  EXPECT_EQ(s.state("two"), "Pending");
  api::kueue::JobReport report;
  report.pods_ready = true;
  report.reclaimable = {{"main", 1}};
  s.report("one", report);
  s.run();
  EXPECT_EQ(s.state("two"), "Admitted");
  EXPECT_EQ(s.condition("one", "PodsReady"), "True Started: All pods reached readiness and the workload is running");
  EXPECT_EQ(s.workload("one").status.admission->pod_set_assignments[0].resource_usage.at("cpu").to_string(), "3")
      << "the admission says what was given";
  EXPECT_EQ(totals(s.cluster_queue("cq").usage), "f/cpu=4");
  EXPECT_TRUE(s.workload("two").status.resource_requests.empty());
}

TEST(Basics, FinishingAndDeletingFreeTheQuota) {
  OneQueue s;
  s.give(WorkloadBuilder("one").pods(4, "1"));
  s.give(WorkloadBuilder("two").pods(4, "1").created(test::at(1)));
  s.give(WorkloadBuilder("three").pods(4, "1").created(test::at(2)));
  s.run();
  EXPECT_EQ(s.state("one"), "Admitted");
  s.finish("one");
  s.run();
  EXPECT_EQ(s.state("one"), "Finished");
  EXPECT_EQ(s.condition("one", "Finished"), "True Succeeded: done");
  EXPECT_EQ(s.state("two"), "Admitted");
  EXPECT_EQ(s.cluster_queue("cq").admitted, 1);
  s.remove("two");
  s.run();
  EXPECT_EQ(s.state("three"), "Admitted");
  s.remove("three");
  s.run();
  EXPECT_EQ(totals(s.cluster_queue("cq").reservation), "f/cpu=0");
}

// --- Reasons.

TEST(Reasons, AreThoseOfTheRecordings) {
  Scenario s;
  s.give(test::flavor("r-a"));
  auto tainted = test::flavor("r-taint");
  tainted.node_taints = {{"gpu", "yes", "NoSchedule"}};
  tainted.node_labels = {{"kind", "gpu"}};
  s.give(tainted);
  s.give(ClusterQueueBuilder("r-cq").cpu({{"r-a", "4"}}));
  s.give(ClusterQueueBuilder("r-cqt").cpu({{"r-taint", "4"}}));
  s.give(ClusterQueueBuilder("r-missing").cpu({{"r-none", "4"}}));
  s.give(ClusterQueueBuilder("r-sel").cpu({{"r-a", "4"}}).select(R"({"matchLabels":{"team":"other"}})"));
  for (const auto& [lq, cq] :
       {std::pair{"q", "r-cq"}, {"qt", "r-cqt"}, {"qm", "r-missing"}, {"qs", "r-sel"}, {"qn", "r-nowhere"}})
    s.give(test::local_queue(lq, cq));
  s.give(WorkloadBuilder("huge").pods(1, "5"));
  s.give(WorkloadBuilder("taint", "qt"));
  s.give(WorkloadBuilder("noflavor", "qm"));
  s.give(WorkloadBuilder("selector", "qs"));
  s.give(WorkloadBuilder("noqueue", "q-none"));
  s.give(WorkloadBuilder("nocq", "qn"));
  s.give(WorkloadBuilder("memory").requests(1, R"({"cpu":"1","memory":"1Gi"})"));
  s.give(WorkloadBuilder("affine", "qt")
             .requests(1, R"({"cpu":"1"})",
                       R"("tolerations":[{"key":"gpu","operator":"Exists"}],"nodeSelector":{"kind":"cpu"})"));
  s.give(WorkloadBuilder("tolerant", "qt")
             .requests(1, R"({"cpu":"1"})", R"("tolerations":[{"key":"gpu","operator":"Exists"}])"));
  s.run();
  const std::string cannot = "couldn't assign flavors to pod set main: ";
  const std::map<std::string, std::string> expected{
      {"huge", "False ExceedsMaxQuota: " + cannot +
                   "insufficient quota for cpu in flavor r-a, previously considered podsets requests (0) + "
                   "current podset "
                   "request (5) > maximum capacity (4). It can never fit: ClusterQueue r-cq has at most 4 of cpu in a "
                   "flavor (r-a), with all that it may borrow; not even one pod of pod set main fits"},
      {"taint", "False NoMatchingFlavor: " + cannot + "untolerated taint {gpu yes NoSchedule <nil>} in flavor r-taint"},
      {"noflavor", "False Suspended: ClusterQueue r-missing is inactive: references missing ResourceFlavor(s): r-none"},
      {"selector", "False Misconfigured: workload namespace doesn't match ClusterQueue selector"},
      {"noqueue", "False Misconfigured: LocalQueue q-none doesn't exist; its namespace has qn, q, qm, qs, qt"},
      {"nocq", "False Misconfigured: ClusterQueue r-nowhere doesn't exist"},
      {"memory", "False NoMatchingFlavor: " + cannot + "resource memory unavailable in ClusterQueue"},
      {"affine", "False NoMatchingFlavor: " + cannot +
                     "flavor r-taint doesn't match node affinity: the pods ask for kind=cpu, its nodes have "
                     "kind=gpu"},
      {"tolerant", "True QuotaReserved: Quota reserved in ClusterQueue r-cqt"},
  };
  for (const auto& [name, condition] : expected) {
    EXPECT_EQ(s.condition(name, "QuotaReserved"), condition) << name;
    EXPECT_EQ(s.condition(name, "Admitted"), name == "tolerant" ? kAdmittedCondition : kNoReservation) << name;
  }
  const auto events = s.take_events();
  EXPECT_THAT(
      events,
      Contains("Workload/selector Warning Misconfigured: workload namespace doesn't match ClusterQueue selector"));
  EXPECT_THAT(events, Not(Contains(HasSubstr("Workload/noqueue"))));
  EXPECT_EQ(s.workload("selector").status.resource_requests.size(), 1u);
  EXPECT_TRUE(s.workload("nocq").status.resource_requests.empty());

  const auto missing = s.cluster_queue("r-missing");
  EXPECT_EQ(missing.reason + ": " + missing.message,
            "FlavorNotFound: Can't admit new workloads: references missing ResourceFlavor(s): r-none.");
  EXPECT_EQ(missing.pending, 1);
  EXPECT_EQ(s.cluster_queue("r-cq").pending, 2);
  EXPECT_EQ(s.local_queue("qm").reason, "ClusterQueueIsInactive");
  const auto nowhere = s.local_queue("qn");
  EXPECT_EQ(nowhere.reason + ": " + nowhere.message,
            "ClusterQueueDoesNotExist: Can't submit new workloads to clusterQueue");
  EXPECT_EQ(nowhere.pending, 1);
  EXPECT_TRUE(nowhere.reservation.empty());

  s.give(test::flavor("r-none"));
  s.run();
  EXPECT_EQ(s.state("noflavor"), "Admitted");
  EXPECT_TRUE(s.cluster_queue("r-missing").active);

  s.give(ClusterQueueBuilder("r-nowhere").cpu({{"r-a", "4"}}));
  s.give(test::local_queue("q-none", "r-nowhere"));
  s.run();
  EXPECT_EQ(s.state("nocq"), "Admitted");
  EXPECT_EQ(s.state("noqueue"), "Admitted");
  s.give_namespace("ns", {{"team", "other"}});
  s.run();
  EXPECT_EQ(s.state("selector"), "Admitted");
}

TEST(Reasons, ALimitRangeMayForbidAndFillIn) {
  OneQueue s;
  api::LimitRangeItem item;
  item.type = "Container";
  item.default_requests["cpu"] = test::quantity("3");
  item.max["cpu"] = test::quantity("3500m");
  s.take(LimitRangeSeen{"ns", "limits", {item}});
  s.give(WorkloadBuilder("filled").requests(1, "{}"));
  s.give(WorkloadBuilder("over").pods(1, "4").created(test::at(1)));
  s.run();
  EXPECT_EQ(s.workload("filled").status.admission->pod_set_assignments[0].resource_usage.at("cpu").to_string(), "3");
  EXPECT_THAT(s.condition("over", "QuotaReserved"),
              HasSubstr("False Misconfigured: resources didn't satisfy LimitRange constraints: "));
  s.give(WorkloadBuilder("above").requests(1, R"({"cpu":"3"},"limits":{"cpu":"2"})").created(test::at(2)));
  s.run();
  EXPECT_THAT(s.condition("above", "QuotaReserved"), HasSubstr("False Misconfigured: resources validation failed: "));
  EXPECT_THAT(s.condition("above", "QuotaReserved"), Not(HasSubstr("LimitRange")));
  s.remove("above");
  s.take(LimitRangeGone{"ns", "limits"});
  s.finish("filled");
  s.run();
  EXPECT_EQ(s.state("over"), "Admitted");
}

// --- Preemption and borrowing.

TEST(Reclaim, TheOwnerGetsItsQuotaBackWhenTheBorrowerHasStopped) {
  Scenario s;
  s.give(test::flavor("br"));
  for (const char* name : {"br-a", "br-b"})
    s.give(ClusterQueueBuilder(name).cpu({{"br", "10"}}).cohort("br").reclaim_any().preempt_lower());
  s.give(test::local_queue("qa", "br-a"));
  s.give(test::local_queue("qb", "br-b"));
  s.give(WorkloadBuilder("greedy", "qa").pods(9, "2"));
  s.run();
  EXPECT_EQ(totals(s.cluster_queue("br-a").usage), "br/cpu=18(borrowed 8)");
  s.pass(6);
  s.take_events();
  s.jobs_stop_at_once = false;
  s.give(WorkloadBuilder("owner", "qb").pods(4, "2").created(s.now()));
  s.run();
  EXPECT_EQ(s.state("greedy"), "Evicting");
  EXPECT_EQ(s.condition("owner", "QuotaReserved"),
            "False WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: insufficient "
            "unused quota for cpu in "
            "flavor br, 6 more needed. Pending the preemption of 1 workload(s)");
  const std::string why =
      "Preempted to accommodate a workload (UID: uid-owner, JobUID: job-owner) due to reclamation within the "
      "cohort; "
      "preemptor path: /br/br-b; preemptee path: /br/br-a";
  EXPECT_EQ(s.condition("greedy", "Evicted"), "True Preempted: " + why);
  EXPECT_EQ(s.condition("greedy", "Preempted"), "True InCohortReclamation: " + why);
  const std::string priorities =
      "; preemptor effective priority: 0 (base: 0, boost: 0); preemptee effective priority: 0 (base: 0, "
      "boost: 0)";
  const auto events = s.take_events();
  EXPECT_THAT(events, Contains("Workload/greedy Normal Preempted: " + why + priorities));
  EXPECT_THAT(events, Contains("Workload/greedy Normal EvictedDueToPreempted: " + why));
  EXPECT_THAT(events,
              Contains("Workload/owner Normal PreemptedWorkload: Preempted workload ns/greedy (UID: uid-greedy) in "
                       "ClusterQueue br-a" +
                       priorities));
  s.pass(30);
  EXPECT_EQ(s.state("owner"), "Pending") << "quota is held until the job has stopped";
  s.report_stopped("greedy");
  s.run();
  EXPECT_EQ(s.state("owner"), "Admitted");
  EXPECT_EQ(s.condition("greedy", "Requeued"), "True Preempted: " + why);
  EXPECT_EQ(s.condition("greedy", "QuotaReserved"),
            "False WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for "
            "cpu in flavor br, 6 "
            "more needed");
  EXPECT_EQ(s.workload("greedy").status.accumulated_past_execution_time_seconds, 36);
}

TEST(Flavors, TheEventSaysWhichWereConsidered) {
  Scenario s;
  s.give(test::flavor("od"));
  s.give(test::flavor("spot"));
  s.give(ClusterQueueBuilder("cq").cpu({{"od", "4"}, {"spot", "8"}}).preempt_lower());
  s.give(ClusterQueueBuilder("rich").cpu({{"od", "6"}}).cohort("co"));
  s.give(ClusterQueueBuilder("poor").cpu({{"od", "1"}}).cohort("co"));
  s.give(test::local_queue("q", "cq"));
  s.give(test::local_queue("p", "poor"));
  const auto considered = [&](const Workload& w) {
    s.give(w);
    s.run();
    for (const auto& event : s.take_events()) {
      if (const auto at = event.find("Flavors considered: "); at != std::string::npos) return event.substr(at + 20);
    }
    return std::string();
  };
  EXPECT_EQ(considered(WorkloadBuilder("j1").pods(3, "1")), "");
  EXPECT_EQ(considered(WorkloadBuilder("j2").pods(3, "1")),
            "main: od(preemptionMode=NoCandidates;insufficient unused quota for cpu in flavor od, 2 more needed)");
  EXPECT_EQ(considered(WorkloadBuilder("j3").pods(3, "1").priority(10)),
            "main: od(preemptionMode=Preempt;insufficient unused quota for cpu in flavor od, 2 more needed)");
  EXPECT_EQ(considered(WorkloadBuilder("j4", "p").pods(3, "1")), "main: od(Fit;borrow=1)");
}

TEST(Partial, TheMinimumIsAdmittedWhenNoMoreFits) {
  OneQueue s;
  s.give(WorkloadBuilder("one").pods(2, "1"));
  s.run();
  s.give(WorkloadBuilder("part").pods(4, "1", 2));
  s.run();
  EXPECT_EQ(s.state("part"), "Admitted");
  EXPECT_EQ(s.workload("part").status.admission->pod_set_assignments[0].count, 2);
}

// --- Finalizers.

TEST(Finalizers, AreSetOnWhatLacksThemAndRemovedWhenNothingNeedsTheObject) {
  Scenario s;
  auto bare = test::flavor("f");
  bare.meta.finalizers.clear();
  s.give(bare);
  auto queue = ClusterQueueBuilder("cq").cpu({{"f", "4"}}).check("ck").build();
  queue.meta.finalizers.clear();
  s.give(queue);
  auto check = test::check("ck");
  check.meta.finalizers.clear();
  s.give(check);
  s.run();
  EXPECT_THAT(s.take_finalizers(),
              testing::UnorderedElementsAre("+ClusterQueue/cq", "+ResourceFlavor/f", "+AdmissionCheck/ck"));
  s.run();
  EXPECT_THAT(s.take_finalizers(), IsEmpty()) << "told once";

  auto leaving = test::flavor("f");
  leaving.meta.resource_version = "2";
  leaving.meta.deletion = s.now();
  s.give(leaving);
  s.run();
  EXPECT_THAT(s.take_finalizers(), IsEmpty()) << "a queue names it";
  s.take(ClusterQueueGone{"cq"});
  s.run();
  EXPECT_THAT(s.take_finalizers(), ElementsAre("-ResourceFlavor/f"));
}

TEST(Finalizers, ACohortThatNamesAFlavorDoesNotKeepIt) {
  Scenario s;
  s.give(test::flavor("f"));
  api::kueue::Cohort cohort;
  cohort.meta.name = "co";
  cohort.resource_groups = ClusterQueueBuilder("unused").cpu({{"f", "4"}}).build().resource_groups;
  s.give(cohort);
  s.run();
  s.take_finalizers();
  auto leaving = test::flavor("f");
  leaving.meta.resource_version = "2";
  leaving.meta.deletion = s.now();
  s.give(leaving);
  s.run();
  EXPECT_THAT(s.take_finalizers(), ElementsAre("-ResourceFlavor/f"));
  s.take(ResourceFlavorGone{"f"});
  s.run();
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "0"}}).cohort("co"));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("a").pods(4, "1"));
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted") << "the cohort's quota is there again with the flavor";
}

}  // namespace
}  // namespace berth::engine::engine_scenarios_test
