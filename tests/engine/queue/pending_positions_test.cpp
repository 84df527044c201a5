// Positions of pending workloads, as the engine reports them.
#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::pending_positions_test {
namespace {

using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

// "a:0/0 b:1/0": name, position in the cluster queue, position in the local queue.
std::string reported(const std::optional<std::vector<PendingWorkload>>& page) {
  if (!page) return "no such queue";
  std::string out;
  for (const auto& each : *page) {
    out += (out.empty() ? "" : " ") + each.object->meta.name + ":" + std::to_string(each.position_in_cluster_queue) +
           "/" + std::to_string(each.position_in_local_queue);
  }
  return out;
}

struct TwoTeams : Scenario {
  TwoTeams() {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    give(test::local_queue("red", "cq"));
    give(test::local_queue("blue", "cq"));
    give(WorkloadBuilder("runs", "red").pods(4, "1"));
    run();
    int second = 0;
    for (const char* name : {"a", "b", "c", "d"}) {
      give(WorkloadBuilder(name, name[0] % 2 ? "red" : "blue").pods(3, "1").created(test::at(++second)));
    }
    give(WorkloadBuilder("urgent", "blue").priority(5).created(test::at(9)));
    give(WorkloadBuilder("inactive", "blue").inactive());
  }
};

TEST(PendingPositions, FollowTheOrderOfEvaluation) {
  TwoTeams s;
  s.run();
  EXPECT_EQ(reported(s.engine().pending_in_cluster_queue("cq", 0, 10)), "urgent:0/0 a:1/0 b:2/1 c:3/1 d:4/2");
  EXPECT_EQ(reported(s.engine().pending_in_cluster_queue("cq", 1, 2)), "a:1/0 b:2/1");
  EXPECT_EQ(reported(s.engine().pending_in_cluster_queue("cq", 9, 2)), "");
  EXPECT_EQ(reported(s.engine().pending_in_local_queue("ns", "red", 0, 10)), "a:1/0 c:3/1");
  EXPECT_EQ(reported(s.engine().pending_in_local_queue("ns", "blue", 1, 1)), "b:2/1");
  EXPECT_EQ(reported(s.engine().pending_in_cluster_queue("other", 0, 10)), "no such queue");
  EXPECT_EQ(reported(s.engine().pending_in_local_queue("elsewhere", "red", 0, 10)), "no such queue");
  const auto position = s.engine().pending_position("ns", "c");
  ASSERT_TRUE(position);
  EXPECT_EQ(position->cluster_queue, "cq");
  EXPECT_EQ(position->in_cluster_queue, 3u);
  EXPECT_EQ(position->in_local_queue, 1u);
  EXPECT_FALSE(s.engine().pending_position("ns", "runs"));
  EXPECT_FALSE(s.engine().pending_position("ns", "inactive"));
  EXPECT_FALSE(s.engine().pending_position("ns", "nobody"));
}

TEST(PendingPositions, MoveUpWhenSomebodyLeaves) {
  TwoTeams s;
  s.run();
  s.remove("b");
  s.change("d", [](api::kueue::Workload& w) { w.queue_name = "red"; }, true);
  s.run();
  EXPECT_EQ(reported(s.engine().pending_in_cluster_queue("cq", 0, 10)), "urgent:0/0 a:1/0 c:2/1 d:3/2");
  EXPECT_EQ(reported(s.engine().pending_in_local_queue("ns", "red", 0, 10)), "a:1/0 c:2/1 d:3/2");
  s.finish("runs");
  s.run();
  EXPECT_EQ(reported(s.engine().pending_in_cluster_queue("cq", 0, 10)), "c:0/0 d:1/1");
}

TEST(PendingPositions, CountWhoSleepsAsInadmissible) {
  TwoTeams s;
  EXPECT_EQ(s.engine().pending_counts("other").inadmissible, 0u);
  // The counts of a local queue are computed workload by workload.
  const auto of_teams = [&] {
    PendingCounts sum;
    for (const char* team : {"red", "blue"}) {
      const auto census = s.engine().local_queue_census("ns", team);
      if (!census) continue;
      sum.active += census->pending.active;
      sum.inadmissible += census->pending.inadmissible;
    }
    return sum;
  };
  s.run();
  EXPECT_EQ(s.engine().pending_counts("cq").active, 0u);
  EXPECT_EQ(s.engine().pending_counts("cq").inadmissible, 5u);
  EXPECT_EQ(of_teams().inadmissible, 5u);
  // In a StrictFIFO queue the workloads behind the head are not parked.
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).strict());
  s.run();
  EXPECT_EQ(s.engine().pending_counts("cq").active, 5u);
  EXPECT_EQ(of_teams().active, 5u);
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).strict().stop(api::kueue::StopPolicy::kHold));
  s.run();
  EXPECT_EQ(s.engine().pending_counts("cq").inadmissible, 5u);
  EXPECT_EQ(of_teams().inadmissible, 5u);
}

// A follower: sees everything, decides nothing.
TEST(PendingPositions, AreInformedByAnEngineThatOnlyLearns) {
  Engine engine{Options{}};
  const auto learn = [&](const Event& event) { EXPECT_TRUE(engine.handle(test::kEpoch, event).empty()); };
  const auto see = [&](WorkloadBuilder w, int version) {
    auto object = std::make_shared<api::kueue::Workload>(w.build());
    object->meta.resource_version = std::to_string(version);
    learn(WorkloadSeen{object});
    return object;
  };
  learn(NamespaceSeen{"ns", {}});
  learn(ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
  learn(ClusterQueueSeen{
      std::make_shared<const api::kueue::ClusterQueue>(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build())});
  learn(LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
  see(WorkloadBuilder("late").created(test::at(2)), 1);
  see(WorkloadBuilder("early").created(test::at(1)), 2);
  EXPECT_TRUE(engine.schedule(test::at(3)).empty());
  EXPECT_EQ(reported(engine.pending_in_cluster_queue("cq", 0, 10)), "early:0/0 late:1/1");

  // The leader admits the first one, and it finishes.
  auto admitted = std::make_shared<api::kueue::Workload>(WorkloadBuilder("early").created(test::at(1)).build());
  admitted->meta.resource_version = "3";
  api::kueue::Admission admission;
  admission.cluster_queue = "cq";
  auto& assignment = admission.pod_set_assignments.emplace_back();
  assignment.flavors["cpu"] = "f";
  assignment.resource_usage["cpu"] = test::quantity("1");
  assignment.count = 1;
  admitted->status.admission = admission;
  api::Condition reserved;
  reserved.type = api::kueue::kQuotaReserved;
  reserved.status = true;
  admitted->status.conditions.push_back(reserved);
  learn(WorkloadSeen{admitted});
  EXPECT_TRUE(engine.schedule(test::at(4)).empty());
  EXPECT_EQ(reported(engine.pending_in_cluster_queue("cq", 0, 10)), "late:0/0");
  EXPECT_EQ(engine.cluster_queue_status("cq")->reserving, 1);
  learn(WorkloadGone{"ns", "early", ""});
  EXPECT_TRUE(engine.schedule(test::at(5)).empty());
  EXPECT_EQ(engine.cluster_queue_status("cq")->reserving, 0);
  EXPECT_TRUE(engine.check_invariants().empty());

  // Now it leads.
  learn(Synced{});
  const auto effects = engine.schedule(test::at(6));
  EXPECT_TRUE(std::any_of(effects.begin(), effects.end(), [](const Effect& effect) {
    const auto* write = std::get_if<WriteWorkloadStatus>(&effect);
    return write != nullptr && write->base->meta.name == "late" && write->status.admission;
  }));
}

}  // namespace
}  // namespace berth::engine::pending_positions_test
