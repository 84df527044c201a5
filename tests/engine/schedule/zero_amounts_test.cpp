// A request of 0 is no request: it takes no part in any decision.
#include <gtest/gtest.h>

#include "engine/registries.h"
#include "engine/schedule/hall.h"
#include "engine/schedule/probe.h"

namespace berth::engine::zero_amounts_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::FungibilityPolicy;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using Requests = std::map<std::string, std::string>;

// The queue `team` runs `own` on memory that it borrows, `lender` runs `borrower` on cpu that it borrows.
void lend_both_ways(World& world) {
  world.flavor("f");
  world.queue(QueueSpec("team")
                  .in("all")
                  .flavor("f", {{"cpu", "5"}, {"memory", "0"}})
                  .within(WithinClusterQueue::kLowerPriority)
                  .reclaim(ReclaimWithinCohort::kAny));
  world.queue(QueueSpec("lender").in("all").flavor("f", {{"cpu", "0"}, {"memory", "1Gi"}}));
  world.job({.name = "own", .queue = "team", .requests = {{"cpu", "2"}, {"memory", "1Gi"}}});
  world.job({.name = "borrower", .queue = "lender", .requests = {{"cpu", "3"}}});
  EXPECT_EQ(world.moves(), (Texts{"admit own", "admit borrower"}));
}

TEST(ZeroAmounts, CostNoVictim) {
  for (const Requests& requests : {Requests{{"cpu", "3"}}, Requests{{"cpu", "3"}, {"memory", "0"}}}) {
    World world;
    lend_both_ways(world);
    world.job({.name = "urgent", .queue = "team", .requests = requests, .priority = 9});
    EXPECT_EQ(world.moves(), Texts{"preempt borrower for urgent (InCohortReclamation)"});
  }
}

TEST(ZeroAmounts, BorrowNothing) {
  World world;
  world.flavor("f");
  world.flavor("g");
  QueueSpec team("team");
  team.in("all").flavor("f", {{"cpu", "9"}, {"memory", "0"}}).flavor("g", {{"cpu", "9"}, {"memory", "0"}});
  team.object.when_can_borrow = FungibilityPolicy::kTryNextFlavor;
  world.queue(team);
  world.queue(QueueSpec("lender").in("all").flavor("f", {{"cpu", "0"}, {"memory", "1Gi"}}));
  world.job({.name = "own", .queue = "team", .requests = {{"cpu", "1"}, {"memory", "1Gi"}}});
  world.job({.name = "none", .queue = "team", .requests = {{"cpu", "1"}, {"memory", "0"}}});
  ASSERT_EQ(world.moves(), (Texts{"admit own", "admit none"}));
  const Admit& admit = std::get<Admit>(world.last.at(1));
  const auto admission = world.scheduler.admission(admit);
  EXPECT_EQ(admission.pod_set_assignments[0].flavors.at("cpu"), "f");
  EXPECT_EQ(admission.pod_set_assignments[0].flavors.at("memory"), "f");
  EXPECT_TRUE(admission.pod_set_assignments[0].resource_usage.at("memory").is_zero());
}

// Of the group of `gpu` no flavor suits the pods; without a request for it none has to.
TEST(ZeroAmounts, NeedNoFlavor) {
  World world;
  world.flavor("f");
  world.flavor("tainted", {}, {{.key = "gpu", .value = "yes", .effect = "NoSchedule"}});
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "9"}}).flavor("tainted", {{"gpu", "9"}}));
  world.job({.name = "none", .queue = "q", .requests = {{"cpu", "1"}, {"gpu", "0"}}});
  world.job({.name = "some", .queue = "q", .requests = {{"cpu", "1"}, {"gpu", "1"}}});
  EXPECT_EQ(world.moves(), Texts{"admit none"});
  EXPECT_EQ(world.scheduler.check(), Texts{});
}

TEST(ZeroAmounts, GoToNoNodes) {
  Hall hall(1, 1, "4");
  hall.topology_flavor("g");
  hall.node(1, 2, "4", true, "g");
  hall.queue(QueueSpec("q").flavor("f", {{"cpu", "9"}}).flavor("g", {{"gpu", "9"}}));
  hall.job({.name = "w", .queue = "q", .requests = {{"cpu", "1"}, {"gpu", "0"}}, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit w"});
  EXPECT_EQ(hall.placed("w"), "r1-n1:1");
}

// Alone they are still something to place.
TEST(ZeroAmounts, AloneHaveAPlace) {
  Hall hall(1, 1, "4");
  hall.queue(QueueSpec("q").flavor("f", {{"cpu", "9"}}));
  hall.job({.name = "w", .queue = "q", .requests = {{"cpu", "0"}}, .topology = required("rack")});
  EXPECT_EQ(hall.moves(), Texts{"admit w"});
  EXPECT_EQ(hall.placed("w"), "r1-n1:1");
}

TEST(ZeroAmounts, PutAHolderOnNoNodes) {
  Registries registries;
  for (const char* name : {"f", "g"}) {
    api::kueue::ResourceFlavor flavor;
    flavor.topology_name = "t";
    registries.flavors[name] = std::make_shared<const api::kueue::ResourceFlavor>(flavor);
  }
  api::kueue::PodSetAssignment assigned;
  assigned.flavors = {{"a.example/gpu", "g"}, {"cpu", "f"}};
  assigned.resource_usage = {{"a.example/gpu", quantity("0")}, {"cpu", quantity("1")}};
  EXPECT_EQ(registries.placed_flavor(assigned), "f");
}

TEST(ZeroAmounts, AreNotExplained) {
  World world;
  lend_both_ways(world);
  world.job({.name = "more", .queue = "lender", .requests = {{"cpu", "1"}, {"memory", "0"}}});
  EXPECT_EQ(world.moves(), Texts{});
  Probe probe(world.scheduler, world.id("more"), at_second(99), [](WorkloadId) { return std::nullopt; });
  ASSERT_EQ(probe.wants().size(), 1u);
  EXPECT_EQ(probe.wants().front().resource, "cpu");
}

}  // namespace
}  // namespace berth::engine::zero_amounts_test
