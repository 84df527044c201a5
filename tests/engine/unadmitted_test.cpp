// How the status says why a workload is not admitted: gates UnadmittedWorkloadsObservability and
// UnadmittedWorkloadsExplicitStatus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::test::unadmitted_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Options observability(bool on, bool explicit_status) {
  Options options;
  options.unadmitted_observability = on;
  options.unadmitted_explicit_status = explicit_status;
  return options;
}

struct Waiting : Scenario {
  explicit Waiting(Options options) : Scenario(options) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    give(test::local_queue("q", "cq"));
    give(WorkloadBuilder("early").pods(1, "1"));
    run();
    give(WorkloadBuilder("big").pods(1, "8").created(at(1)));
    give(WorkloadBuilder("mem").requests(1, R"({"memory":"1Gi"})").created(at(2)));
    give(WorkloadBuilder("wait").pods(1, "4").created(at(3)));
    run();
    give(WorkloadBuilder("alike").pods(1, "4").created(at(4)));
    pass(60);
  }
};

TEST(Unadmitted, HaveReasonsForEachCause) {
  Waiting s(observability(true, true));
  EXPECT_THAT(s.condition("big", "QuotaReserved"), StartsWith("False ExceedsMaxQuota: "));
  EXPECT_THAT(s.condition("mem", "QuotaReserved"), StartsWith("False NoMatchingFlavor: "));
  EXPECT_THAT(s.condition("wait", "QuotaReserved"), StartsWith("False WaitingForQuota: "));
  EXPECT_EQ(s.condition("alike", "QuotaReserved"),
            "False WaitingForQuota: Bypassed scheduling evaluation because an equivalent workload recently failed: "
            "ns/wait: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 1 more "
            "needed");
  EXPECT_EQ(s.condition("alike", "Admitted"), "False NoReservation: The workload has no reservation");
  EXPECT_EQ(s.engine().cluster_queue_census("cq")->unadmitted.size(), 3u);
}

TEST(Unadmitted, KeepWhatWasSaidOfAnEquivalentOneAfterARestart) {
  Waiting s(observability(true, true));
  const std::string reported = s.condition("alike", "QuotaReserved");
  s.give(WorkloadBuilder("first").pods(1, "4").priority(1).created(at(5)));
  s.pass(60);
  s.remove("wait");  // now "alike" is the first of its class
  s.give(WorkloadBuilder("older").pods(1, "4").created(at(3)));
  s.pass(60);
  EXPECT_EQ(s.condition("alike", "QuotaReserved"), reported) << "the same reason is no news";
  const int writes = s.writes();
  s.restart();
  s.pass(600);
  EXPECT_EQ(s.condition("alike", "QuotaReserved"), reported);
  EXPECT_LE(s.writes(), writes + 1) << "only the one that is evaluated now may hear something new";
}

TEST(Unadmitted, SayOfEachGenerationThatTheyAreInactive) {
  Waiting s(observability(true, true));
  for (std::int64_t generation : {2, 3}) {
    s.change("wait", [&](auto& w) {
      w.active = false;
      w.meta.generation = generation;
    });
    s.run();
    EXPECT_EQ(s.condition("wait", "QuotaReserved"), "False Deactivated: The workload is deactivated");
    const auto* quota = api::find_condition(s.workload("wait").status.conditions, api::kueue::kQuotaReserved);
    EXPECT_EQ(quota->observed_generation, generation);
  }
}

TEST(Unadmitted, AreInformedAgainOfEachGenerationWhatTheyLack) {
  Waiting s(observability(true, true));
  const std::string reported = s.condition("wait", "QuotaReserved");
  s.give(test::local_queue("q2", "cq"));
  s.take_events();
  s.change("wait", [](auto& w) {
    w.queue_name = "q2";
    w.meta.generation = 2;
  });
  s.pass(60);
  EXPECT_EQ(s.condition("wait", "QuotaReserved"), reported);
  const auto* quota = api::find_condition(s.workload("wait").status.conditions, api::kueue::kQuotaReserved);
  EXPECT_EQ(quota->observed_generation, 2);
  EXPECT_THAT(s.take_events(), testing::IsEmpty()) << "it is no news";
}

// Kueue visits the requested resources in reverse order of names.
TEST(Unadmitted, TellOfSeveralResourcesThatTheQueueDoesNotNameTheLastOne) {
  Waiting s(observability(true, true));
  s.give(WorkloadBuilder("a").requests(1, R"({"cpu":"1","example.com/gpu":"2","memory":"1Gi"})").created(at(5)));
  s.give(WorkloadBuilder("b").requests(1, R"({"cpu":"8","memory":"1Gi"})").created(at(6)));
  s.pass(60);
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(s.condition(name, "QuotaReserved"),
              "False NoMatchingFlavor: couldn't assign flavors to pod set main: resource memory unavailable "
              "in ClusterQueue");
  }
}

TEST(Unadmitted, WhoIsNotEvaluatedIsNotReportedWithoutExplicitStatus) {
  Waiting s(observability(true, false));
  EXPECT_THAT(s.condition("wait", "QuotaReserved"), StartsWith("False WaitingForQuota: "));
  EXPECT_EQ(s.condition("alike", "QuotaReserved"), "");
  EXPECT_EQ(s.condition("alike", "Admitted"), "");
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).stop(api::kueue::StopPolicy::kHold).version("2"));
  s.pass(60);
  EXPECT_EQ(s.condition("alike", "QuotaReserved"), "False Suspended: ClusterQueue cq is inactive");
}

// Nothing is evaluated behind the head of a strict queue.
TEST(Unadmitted, WhoStandsBehindOthersOfAStrictQueueIsReportedOnce) {
  for (const bool explicit_status : {true, false}) {
    Scenario s(observability(true, explicit_status));
    s.give(test::flavor("f"));
    s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).strict());
    s.give(test::local_queue("q", "cq"));
    s.give(WorkloadBuilder("early").pods(1, "3"));
    s.run();
    s.give(WorkloadBuilder("head").pods(1, "2").created(at(1)));
    s.give(WorkloadBuilder("behind").pods(1, "1").created(at(2)));
    s.pass(60);
    EXPECT_THAT(s.condition("head", "QuotaReserved"), StartsWith("False WaitingForQuota: "));
    EXPECT_EQ(s.condition("behind", "QuotaReserved"),
              explicit_status
                  ? "False PendingEvaluation: ClusterQueue cq is StrictFIFO: workloads that stand before it "
                    "have not started"
                  : "");
    const int writes = s.writes();
    s.pass(600);
    EXPECT_EQ(s.writes(), writes) << "what was said is not said again";
    s.remove("early");
    s.pass(60);
    EXPECT_THAT(s.condition("behind", "QuotaReserved"), StartsWith("True ")) << "it fits beside the head";
  }
}

TEST(Unadmitted, WhoIsAdmittedInTheSamePassIsNotReportedAsWaiting) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).strict());
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("a").pods(1, "1"));
  s.give(WorkloadBuilder("b").pods(1, "1").created(at(1)));
  s.run();
  EXPECT_THAT(s.condition("b", "QuotaReserved"), StartsWith("True "));
}

api::kueue::Cohort cohort(const std::string& name, const std::string& parent) {
  api::kueue::Cohort out;
  out.meta.name = name;
  out.parent_name = parent;
  return out;
}

TEST(Unadmitted, HearThatTheirCohortsFormACycle) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(cohort("one", "two"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).cohort("one"));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("holds").pods(1, "3"));
  s.run();
  s.give(WorkloadBuilder("before").pods(1, "2").created(at(1)));
  s.give(WorkloadBuilder("alike").pods(1, "2").created(at(2)));
  s.pass(60);
  EXPECT_THAT(s.condition("before", "QuotaReserved"), StartsWith("False WaitingForQuota: "));
  s.give(cohort("two", "one"));
  s.give(WorkloadBuilder("after").pods(1, "1").created(at(3)));
  s.pass(60);
  for (const char* name : {"before", "alike", "after"}) {
    EXPECT_EQ(s.condition(name, "QuotaReserved"),
              "False Suspended: ClusterQueue cq is inactive: its Cohorts form a cycle")
        << name;
  }
  const int writes = s.writes();
  s.pass(600);
  EXPECT_EQ(s.writes(), writes) << "what was said is not said again";
  s.give(cohort("two", ""));
  s.pass(60);
  EXPECT_THAT(s.condition("after", "QuotaReserved"), StartsWith("True"));
  EXPECT_THAT(s.condition("before", "QuotaReserved"), StartsWith("False WaitingForQuota: "));
  EXPECT_THAT(s.condition("alike", "QuotaReserved"), StartsWith("False WaitingForQuota: "));
}

TEST(Unadmitted, HaveFewReasonsWithoutObservability) {
  Waiting s(observability(false, false));
  for (const char* name : {"big", "mem", "wait"}) {
    EXPECT_THAT(s.condition(name, "QuotaReserved"), StartsWith("False Pending: couldn't assign")) << name;
    EXPECT_EQ(s.condition(name, "Admitted"), "") << "it never was";
  }
  EXPECT_EQ(s.condition("alike", "QuotaReserved"), "");
  EXPECT_TRUE(s.engine().cluster_queue_census("cq")->unadmitted.empty());
  const auto events = s.take_events();
  EXPECT_THAT(events, Contains(StartsWith("Workload/wait Warning Pending: couldn't assign")));
  EXPECT_THAT(events, Not(Contains(HasSubstr("WaitingForQuota"))));

  s.give(WorkloadBuilder("nowhere", "none").created(at(5)));
  s.pass(60);
  EXPECT_EQ(s.condition("nowhere", "QuotaReserved"),
            "False Inadmissible: LocalQueue none doesn't exist; its namespace has q");
  const int writes = s.writes();
  s.pass(600);
  EXPECT_EQ(s.writes(), writes) << "what was said is not said again";
}

TEST(Unadmitted, SayWithoutObservabilityWhatIsMissingAfterAnAdmission) {
  Scenario s(observability(false, false));
  s.give(test::flavor("f"));
  s.give(test::check("c"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).check("c"));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("w").pods(1, "1"));
  s.run();
  EXPECT_EQ(s.state("w"), "Reserved");
  EXPECT_EQ(s.condition("w", "Admitted"), "");
  s.change("w", [](Workload& w) { w.status.admission_checks.at(0).state = api::kueue::CheckState::kReady; });
  s.run();
  EXPECT_EQ(s.state("w"), "Admitted");
  s.change("w", [](Workload& w) { w.active = false; }, true);
  s.run();
  EXPECT_EQ(s.condition("w", "Admitted"), "False NoReservationUnsatisfiedChecks: The workload has no reservation");
}

// --- Admission gates.

TEST(AdmissionGates, AreInformedWhenTheyComeAndWhenTheyAreGone) {
  OneQueue s;
  s.give(WorkloadBuilder("w").annotate("kueue.x-k8s.io/admission-gated-by", "example.com/one,example.com/two"));
  s.run();
  EXPECT_EQ(s.condition("w", "QuotaReserved"),
            "False AdmissionGated: Admission is gated by: example.com/one,example.com/two");
  EXPECT_THAT(s.take_events(), Contains("Workload/w Normal AdmissionGated: Workload admission is gated by: "
                                        "example.com/one,example.com/two"));
  s.change("w", [](Workload& w) { w.meta.annotations["kueue.x-k8s.io/admission-gated-by"] = "example.com/two"; });
  s.run();
  EXPECT_EQ(s.condition("w", "QuotaReserved"), "False AdmissionGated: Admission is gated by: example.com/two");
  EXPECT_THAT(s.take_events(), Not(Contains(HasSubstr("Gated")))) << "one gate less is no news";
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "0"}}).version("2"));
  s.change("w", [](Workload& w) { w.meta.annotations.clear(); });
  s.run();
  EXPECT_THAT(s.condition("w", "QuotaReserved"), StartsWith("False ExceedsMaxQuota: "));
  EXPECT_THAT(s.take_events(),
              Contains("Workload/w Normal AdmissionGateCleared: Admission gate cleared, workload is now admissible"));
}

}  // namespace
}  // namespace berth::engine::test::unadmitted_test
