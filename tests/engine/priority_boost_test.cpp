// The annotation kueue.x-k8s.io/priority-boost adds to the priority (KEP-7990), with the gate PriorityBoost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/kueue/priority_boost.h"
#include "engine/lifecycle/moves.h"
#include "engine/support/one_queue.h"

namespace berth::engine::test::priority_boost_test {
namespace {

using testing::Contains;
using testing::EndsWith;

// "run" holds all quota at priority 10; "a" (priority 0) and "b" (priority 10) wait.
struct Boosted : Scenario {
  explicit Boosted(bool on = true) : Scenario(options(on)) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).preempt_lower());
    give(test::local_queue("q", "cq"));
    give(WorkloadBuilder("run").pods(4, "1").priority(10));
    run();
    give(WorkloadBuilder("a").pods(4, "1").created(at(1)));
    give(WorkloadBuilder("b").pods(4, "1").priority(10).created(at(2)));
    run();
    take_events();
  }
  static Options options(bool on) {
    Options o;
    o.priority_boost = on;
    return o;
  }
  void boost(const std::string& name, const std::string& value) {
    change(name, [&](Workload& w) { w.meta.annotations["kueue.x-k8s.io/priority-boost"] = value; });
    run();
  }
};

TEST(PriorityBoost, IsAddedToThePriority) {
  Boosted s;
  s.boost("a", "5");
  EXPECT_EQ(s.state("run"), "Admitted");
  s.boost("a", "15");
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.state("run"), "Pending");
  EXPECT_THAT(s.condition("run", "QuotaReserved"),
              EndsWith("insufficient unused quota for cpu in flavor f, 4 more needed"));
  const char* priorities =
      "; preemptor effective priority: 15 (base: 0, boost: 15); preemptee effective priority: 10 (base: 10, "
      "boost: 0)";
  const auto events = s.take_events();
  EXPECT_THAT(events, Contains(EndsWith(std::string("Preempted workload ns/run (UID: uid-run) in ClusterQueue cq") +
                                        priorities)));
  EXPECT_THAT(events, Contains(EndsWith(std::string("preemptee path: /cq") + priorities)));
}

// Kueue does not wake the waiting workloads in this case.
TEST(PriorityBoost, ThatIsLoweredWhileItRunsWakesWhoMayTakeItsPlace) {
  Boosted s;
  s.boost("a", "15");
  ASSERT_EQ(s.state("a"), "Admitted");
  s.boost("a", "-5");
  EXPECT_EQ(s.state("a"), "Pending");
  EXPECT_EQ(s.state("run"), "Admitted") << "the older of the two";
}

TEST(PriorityBoost, DecidesTheOrderOfThoseWhoWait) {
  Boosted s;
  s.boost("a", "10");
  const auto first = s.engine().pending_in_cluster_queue("cq", 0, 1);
  EXPECT_EQ(first->at(0).object->meta.name, "a") << "as urgent as b, and older";
  s.boost("a", "9");
  EXPECT_EQ(s.engine().pending_in_cluster_queue("cq", 0, 1)->at(0).object->meta.name, "b");
}

TEST(PriorityBoost, IsNothingWithoutTheGateAndWhenItIsNoNumber) {
  Boosted off(false);
  off.boost("a", "15");
  EXPECT_EQ(off.state("run"), "Admitted");
  Boosted on;
  on.boost("a", "much");
  EXPECT_EQ(on.state("run"), "Admitted");
}

TEST(PriorityBoost, StaysWithinTheBoundsOfAPriority) {
  EXPECT_EQ((lifecycle::Priority{2'000'000'000, 2'000'000'000}.effective()), 2'147'483'647);
  EXPECT_EQ((lifecycle::Priority{-2'000'000'000, -2'000'000'000}.effective()), -2'147'483'648);
  EXPECT_EQ((lifecycle::Priority{7, -10}.effective()), -3);
}

TEST(PriorityBoost, IsASignedIntegerOf32Bits) {
  using api::kueue::parse_priority_boost;
  EXPECT_EQ(parse_priority_boost("15"), 15);
  EXPECT_EQ(parse_priority_boost("-5"), -5);
  EXPECT_EQ(parse_priority_boost("+3"), 3);
  for (const char* text : {"", "+", "-", "+-1", "much", "1.5", "5 ", " 5", "2147483648", "0x1"})
    EXPECT_EQ(parse_priority_boost(text), std::nullopt) << text;
}

}  // namespace
}  // namespace berth::engine::test::priority_boost_test
