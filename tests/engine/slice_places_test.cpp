// Elastic jobs with places in a topology (KEP-77): pods that run keep theirs, and the others are placed with them.
#include <gmock/gmock.h>

#include "engine/racks.h"
#include "engine/support/slices.h"

namespace berth::engine::slice_places_test {
namespace {

using racks::Racks;
using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::PodBuilder;
using test::Scenario;
using test::Workload;
using test::WorkloadBuilder;
using testing::HasSubstr;

Workload slice(const std::string& name, int pods, const std::string& replaces = "", bool preferred = false) {
  WorkloadBuilder builder = WorkloadBuilder(name).pods(pods, "2").created(test::at(replaces.empty() ? 0 : 1));
  Workload w = preferred ? builder.build() : builder.required("rack").build();
  if (preferred) w.pod_sets[0].topology_request.emplace().preferred = "rack";
  return test::as_slice(std::move(w), replaces);
}

// Two racks of three nodes, two pods per node. The slice a has four running pods on the first two nodes of rack r1.
struct Running : Scenario {
  explicit Running(bool preferred = false) {
    give(test::topology("t"));
    give(test::placed_flavor("f", "t"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}).preempt_lower());
    give(test::local_queue("q", "cq"));
    for (const char* node : {"r1-n1", "r1-n2", "r1-n3"}) give(NodeBuilder(node, "r1"));
    for (const char* node : {"r2-n1", "r2-n2", "r2-n3"}) give(NodeBuilder(node, "r2"));
    give(slice("a", 4, "", preferred));
    run();
    EXPECT_EQ(places_of("a"), "r1-n1:2 r1-n2:2");
    for (const char* pod : {"p1", "p2"}) give(PodBuilder(pod, "a", "r1-n1"));
    for (const char* pod : {"p3", "p4"}) give(PodBuilder(pod, "a", "r1-n2"));
    run();
  }
  void pods_end(const std::vector<std::string>& pods) {
    for (const auto& pod : pods) take(PodGone{"uid-" + pod});
  }
};

TEST(SlicePlaces, GrowInTheRackOfThePodsThatRun) {
  Running s;
  s.give(slice("b", 6, "a"));
  s.run();
  EXPECT_EQ(s.places_of("b"), "r1-n1:2 r1-n2:2 r1-n3:2");
  EXPECT_EQ(s.state("a"), "Finished");
  s.restart();
  s.give(WorkloadBuilder("other").pods(6, "2").required("rack").created(test::at(5)));
  s.run();
  EXPECT_EQ(s.places_of("other"), "r2-n1:2 r2-n2:2 r2-n3:2");
}

TEST(SlicePlaces, NeverMoveToARackWithMoreRoom) {
  Running s;
  s.give(WorkloadBuilder("other").pods(1, "3").required("kubernetes.io/hostname").created(test::at(1)));
  s.run();
  const bool beside = s.places_of("other") == "r1-n3:1";
  s.give(slice("b", 7, "a"));
  s.run();
  EXPECT_EQ(s.state("b"), "Pending") << beside;
  EXPECT_EQ(s.state("a"), "Admitted");
}

TEST(SlicePlaces, PreferredOnesGoOnElsewhere) {
  Running s(true);
  s.give(slice("b", 8, "a", true));
  s.run();
  EXPECT_THAT(s.places_of("b"), testing::StartsWith("r1-n1:2 r1-n2:2 "));
}

TEST(SlicePlaces, WaitForPlacesWhileTheOldOneRuns) {
  Running s;
  s.give(WorkloadBuilder("low")
             .requests(1, R"({"cpu":"4"})", R"("nodeSelector":{"kubernetes.io/hostname":"r1-n3"})")
             .required("kubernetes.io/hostname")
             .created(test::at(1)));
  s.run();
  ASSERT_EQ(s.places_of("low"), "r1-n3:1");
  s.give(slice("b", 6, "a"));
  s.run();
  EXPECT_EQ(s.state("b"), "Pending");
  EXPECT_EQ(s.state("a"), "Admitted");
  s.finish("low");
  s.run();
  EXPECT_EQ(s.places_of("b"), "r1-n1:2 r1-n2:2 r1-n3:2");
}

TEST(SlicePlaces, PreemptForPlacesBesideThePodsThatRun) {
  Running s;
  s.give(WorkloadBuilder("low")
             .requests(1, R"({"cpu":"4"})", R"("nodeSelector":{"kubernetes.io/hostname":"r1-n3"})")
             .required("kubernetes.io/hostname")
             .priority(-1)
             .created(test::at(1)));
  s.run();
  ASSERT_EQ(s.places_of("low"), "r1-n3:1");
  s.give(slice("b", 6, "a"));
  s.run();
  EXPECT_EQ(s.places_of("b"), "r1-n1:2 r1-n2:2 r1-n3:2");
  EXPECT_EQ(s.places_of("low"), "");
}

TEST(SlicePlaces, ShrinkingFreesPlacesOnceThePodsAreGone) {
  Running s;
  s.give(WorkloadBuilder("first").pods(8, "2").created(test::at(1)));
  s.give(WorkloadBuilder("second").pods(2, "2").required("kubernetes.io/hostname").created(test::at(2)));
  s.run();
  EXPECT_EQ(s.state("first"), "Admitted");
  EXPECT_EQ(s.state("second"), "Pending");
  s.change("a", [](Workload& w) { w.pod_sets[0].count = 2; }, true);
  s.run();
  EXPECT_EQ(s.state("second"), "Pending") << "the pods are still there";
  s.pods_end({"p3", "p4"});
  s.run();
  EXPECT_EQ(s.places_of("second"), "r1-n2:2");
}

TEST(SlicePlaces, AfterShrinkingItGrowsAroundThePodsThatAreLeft) {
  Running s;
  s.change("a", [](Workload& w) { w.pod_sets[0].count = 2; }, true);
  s.pods_end({"p1", "p4"});
  s.run();
  s.give(slice("b", 3, "a"));
  s.run();
  EXPECT_EQ(s.places_of("b"), "r1-n1:2 r1-n2:1");
  s.give(slice("c", 2, "b"));
  s.run();
  EXPECT_EQ(s.places_of("c"), "r1-n1:1 r1-n2:1") << "where its pods run";
}

TEST(SlicePlaces, ALostNodeIsReplacedBeforeTheJobGrows) {
  Running s;
  s.take(NodeGone{"r1-n1"});
  s.pods_end({"p1", "p2"});
  s.run();
  s.pass(1);
  EXPECT_EQ(s.places_of("a"), "r1-n2:2 r1-n3:2");
  s.give(NodeBuilder("r1-n4", "r1"));
  s.give(slice("b", 6, "a"));
  s.run();
  EXPECT_EQ(s.places_of("b"), "r1-n2:2 r1-n3:2 r1-n4:2");
}

}  // namespace
}  // namespace berth::engine::slice_places_test
