// Nodes fail around restarts of the engine, failed writes and changes of the configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/racks.h"
#include "engine/support/scenario.h"

namespace berth::engine::node_failure_restart_test {
namespace {

using api::kueue::Workload;
using racks::Racks;
using racks::with;
using test::at;
using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Outcome = test::Scenario::Outcome;

TEST(NodeFailure, ARestartGoesOnFromTheMarker) {
  Racks s;
  s.take(NodeGone{"r1-n1"});
  s.run();
  s.restart();
  s.run();
  EXPECT_THAT(s.unhealthy(), ElementsAre("r1-n1"));
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
  s.restart();
  s.pass(100);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
}

TEST(NodeFailure, NodesThatFailWhileTheEngineIsAwayAreFoundAtTheStart) {
  Racks s;
  s.take(NodeGone{"r1-n2"});  // seen, but without effect
  s.restart();
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n3:2");
}

TEST(NodeFailure, BeforeAllIsSeenNobodyIsMarked) {
  Racks s;
  Engine engine{Options{}};
  const Time now = s.now();
  engine.handle(now, WorkloadSeen{std::make_shared<const Workload>(s.workload("a"))});
  EXPECT_THAT(engine.schedule(now), IsEmpty());
  engine.handle(now, TopologySeen{std::make_shared<const api::kueue::Topology>(test::topology("t"))});
  engine.handle(now,
                ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::placed_flavor("f", "t"))});
  engine.handle(now, ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(
                         ClusterQueueBuilder("cq").cpu({{"f", "100"}}).build())});
  engine.handle(now, LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
  for (const char* node : {"r1-n1", "r1-n2"}) engine.handle(now, NodeSeen{NodeBuilder(node).ptr()});
  EXPECT_THAT(engine.schedule(now), IsEmpty());
  engine.handle(now, Synced{});
  for (const auto& effect : engine.schedule(now)) EXPECT_FALSE(std::holds_alternative<WriteWorkloadStatus>(effect));
  EXPECT_THAT(engine.check_invariants(), IsEmpty());
}

TEST(NodeFailure, WritesThatFailAndConflictLeadToOneReplacement) {
  for (const Outcome failure : {Outcome::kFailed, Outcome::kConflict}) {
    for (const bool happen : {false, true}) {
      for (const int last : {0, 1, 2, 7}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(failure) << happen << last);
        Racks s;
        s.failed_writes_happen = happen;
        int n = 0;
        s.outcome_of_write = [&](const std::string&) { return n++ <= last ? failure : Outcome::kDone; };
        s.take(NodeGone{"r1-n1"});
        s.pass(2);
        // The node is back, and another workload wants it.
        s.give(NodeBuilder("r1-n1"));
        s.give(WorkloadBuilder("b").pods(2, "2").required("kubernetes.io/hostname"));
        s.pass(600);
        EXPECT_EQ(s.state("a"), "Admitted");
        EXPECT_EQ(s.state("b"), "Admitted");
        EXPECT_THAT(s.places_of("a"), Not(HasSubstr(s.places_of("b"))));
        EXPECT_THAT(s.unhealthy(), IsEmpty());
      }
    }
  }
}

TEST(NodeFailure, ALateEchoDoesNotBringTheOldPlacesBack) {
  Racks s;
  s.answers_that_arrive = [](std::size_t n) { return std::min<std::size_t>(n, 1); };
  s.take(NodeGone{"r1-n1"});
  s.run();
  s.pass(2);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
  s.pods_end({"p1", "p2"});
  s.take(NodeGone{"r1-n3"});
  s.give(NodeBuilder("r1-n1"));
  s.pass(100);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.places_of("a"), "r1-n1:2 r1-n2:2");
}

TEST(NodeFailure, AFlavorOrTopologyThatIsMadeAnewKnowsWhoIsThere) {
  Racks s;
  s.take(TopologyGone{"t"});
  s.take(ResourceFlavorGone{"f"});
  s.run();
  s.give(test::placed_flavor("f", "t"));
  s.give(test::topology("t"));
  s.give(WorkloadBuilder("b").pods(4, "2").required("rack"));
  s.run();
  EXPECT_EQ(s.places_of("b"), "r2-n1:2 r2-n2:2");
}

}  // namespace
}  // namespace berth::engine::node_failure_restart_test
