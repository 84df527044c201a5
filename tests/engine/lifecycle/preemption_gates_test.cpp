// Preemption gates of workloads (KEP-8303): the client that opens them decides when a workload may preempt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/one_queue.h"

namespace berth::engine::test::preemption_gates_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGate = "example.com/gate";
constexpr const char* kBlocked = "BlockedOnPreemptionGates";

Options gates_do_not_count() {
  Options options;
  options.preemption_gates = false;
  return options;
}

// 4 cpu, all held by "low"; workloads of higher priority may preempt it.
struct Gated : Scenario {
  explicit Gated(Options options = Options()) : Scenario(options) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).preempt_lower());
    give(test::local_queue("q", "cq"));
    give(WorkloadBuilder("low").pods(4, "1"));
    run();
    Workload w = WorkloadBuilder("gated").pods(2, "1").priority(10).created(at(1)).ownerless();
    w.preemption_gates = {kGate};
    give(w);
    run();
  }
  void open(const std::string& name) {
    change(name, [&](Workload& w) { w.status.preemption_gates = {{kGate, true, now()}}; });
    run();
  }
};

TEST(PreemptionGatesOfWorkloads, AreClosedFirstAndSayWhatTheyPrevent) {
  Gated s;
  EXPECT_EQ(s.state("low"), "Admitted");
  const auto& gates = s.workload("gated").status.preemption_gates;
  ASSERT_EQ(gates.size(), 1u);
  EXPECT_EQ(gates[0].name, kGate);
  EXPECT_FALSE(gates[0].open);
  EXPECT_EQ(gates[0].last_transition, s.now());
  EXPECT_EQ(s.condition("gated", kBlocked), "True PreemptionGated: Workload requires preemption, but it's gated");
  const std::string why =
      "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, 2 more "
      "needed. Workload requires "
      "preemption, but it's gated by: example.com/gate";
  EXPECT_EQ(s.condition("gated", "QuotaReserved"), "False WaitingForQuota: " + why);
  const auto events = s.take_events();
  EXPECT_THAT(events, Contains("Workload/gated Warning WaitingForQuota: " + why));
  EXPECT_THAT(events, Not(Contains(HasSubstr("AdmissionGate"))));
}

TEST(PreemptionGatesOfWorkloads, LetPreemptOnceTheyAreOpen) {
  Gated s;
  s.open("gated");
  EXPECT_EQ(s.state("gated"), "Admitted");
  EXPECT_EQ(s.state("low"), "Pending");
  EXPECT_EQ(s.condition("gated", kBlocked),
            "False QuotaReserved: Previously: Workload requires preemption, but it's gated");
  EXPECT_TRUE(s.workload("gated").status.preemption_gates.at(0).open);
}

TEST(PreemptionGatesOfWorkloads, ThatAreOpenTellNoMoreThatTheyBlock) {
  Gated s;
  s.give(WorkloadBuilder("higher").pods(4, "1").priority(20).created(at(2)));
  s.run();
  EXPECT_EQ(s.state("higher"), "Admitted");
  s.open("gated");
  EXPECT_EQ(s.condition("gated", kBlocked),
            "False WaitingForQuota: Previously: Workload requires preemption, but it's gated")
      << "there is nobody whom it might preempt";
}

TEST(PreemptionGatesOfWorkloads, AreNoObstacleWhereQuotaIsFree) {
  Gated s;
  s.finish("low");
  s.run();
  EXPECT_EQ(s.state("gated"), "Admitted");
  EXPECT_FALSE(s.workload("gated").status.preemption_gates.at(0).open);
}

TEST(PreemptionGatesOfWorkloads, CloseWithAnEviction) {
  Gated s;
  s.open("gated");
  s.give(WorkloadBuilder("higher").pods(4, "1").priority(20).created(at(2)));
  s.pass(5);
  EXPECT_EQ(s.state("higher"), "Admitted");
  const auto& gate = s.workload("gated").status.preemption_gates.at(0);
  EXPECT_FALSE(gate.open);
  EXPECT_EQ(gate.last_transition, at(0));
}

TEST(PreemptionGatesOfWorkloads, FollowTheSpec) {
  Gated s;
  s.change(
      "gated",
      [](Workload& w) {
        w.preemption_gates = {"example.com/other", kGate};
        w.status.preemption_gates = {{"nobody/knows", true, kEpoch}, {kGate, true, kEpoch}};
      },
      true);
  s.run();
  const auto& gates = s.workload("gated").status.preemption_gates;
  ASSERT_EQ(gates.size(), 2u);
  EXPECT_EQ(gates[0].name, "example.com/other");
  EXPECT_FALSE(gates[0].open);
  EXPECT_EQ(gates[1].name, kGate);
  EXPECT_TRUE(gates[1].open);
  EXPECT_EQ(s.state("gated"), "Pending") << "all of them have to be open";
  EXPECT_THAT(s.condition("gated", "QuotaReserved"), HasSubstr("gated by: example.com/other"));
}

TEST(PreemptionGatesOfWorkloads, CountForNothingWhileTheirFeatureIsOff) {
  Gated s{gates_do_not_count()};
  EXPECT_EQ(s.state("gated"), "Admitted");
  EXPECT_EQ(s.state("low"), "Pending");
  EXPECT_TRUE(s.workload("gated").status.preemption_gates.empty());
}

}  // namespace
}  // namespace berth::engine::test::preemption_gates_test
