// Requests that a flavor can never satisfy, whatever is free, and their messages.
#include <gtest/gtest.h>

#include "engine/topology/cluster.h"

namespace berth::engine::requests_test {
namespace {

std::string mismatch(Cluster& cluster, const Gang& gang) {
  return cluster.places.mismatch(cluster.id(gang.flavor), gang.topology ? &*gang.topology : nullptr, gang.count);
}

TEST(TopologyRequests, FlavorsThatDoNotPlace) {
  Cluster cluster;
  cluster.flavor("plain", "");
  EXPECT_FALSE(cluster.places.places_pods(cluster.id("plain")));
  EXPECT_EQ(mismatch(cluster, Gang{.flavor = "plain"}), "");
  EXPECT_EQ(mismatch(cluster, Gang{.flavor = "plain"}.required("rack")),
            "Flavor \"plain\" does not support TopologyAwareScheduling");
  cluster.flavor("f", "t");
  EXPECT_TRUE(cluster.places.places_pods(cluster.id("f")));
  EXPECT_EQ(mismatch(cluster, Gang{}.required("rack")), "Flavor \"f\" information missing in TAS cache");
  EXPECT_EQ(cluster.where({Gang{}}), "Flavor \"f\" information missing in TAS cache");
}

TEST(TopologyRequests, LevelsAndSlicesThatDoNotExistOrDivide) {
  Cluster cluster;
  cluster.topology("t", {"block", "rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  EXPECT_EQ(mismatch(cluster, Gang{}.required("rack")), "");
  EXPECT_EQ(mismatch(cluster, Gang{}.required("row")), "Flavor \"f\" does not contain the requested level");
  EXPECT_EQ(mismatch(cluster, Gang{}.preferred("row")), "Flavor \"f\" does not contain the requested level");
  EXPECT_EQ(mismatch(cluster, Gang{}.slices("row", 1)), "Flavor \"f\" does not contain the requested level");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 5}.required("rack").slices("rack", 2)), "");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 5}.layers({{"block", 4}, {"rack", 2}})),
            "podset slice size 4 at block does not divide the 5 pods of the pod set: change the size or the "
            "number of pods");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 4}.required("rack").slices("block", 2)),
            "podset slice topology block is above the podset topology rack");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 8}.layers({{"rack", 4}, {"rack", 2}})),
            "podset slice topology rack is not below the podset slice topology rack");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 8}.layers({{"block", 4}, {"rack", 3}})),
            "podset slice size 3 at rack does not divide the slice size 4 at block: change the size or the "
            "number of pods");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 8}.layers({{"block", 8}, {"rack", 4}, {"kubernetes.io/hostname", 2}})), "");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 4}.request([](auto& r) { r.slice_size = 2; })),
            "slices need both a topology level and a size: set podsetSliceRequiredTopology and podsetSliceSize");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 4}.slices("rack", 2).layers({{"rack", 2}})),
            "slices are asked for twice: use either podsetSliceRequiredTopology and podsetSliceSize, or "
            "constraints");
}

TEST(TopologyRequests, SmallerLastSlicesCanBeSwitchedOff) {
  Cluster cluster({.partial_slices = false});
  add_racks(cluster, 2, 2);
  EXPECT_EQ(mismatch(cluster, Gang{.count = 4}.slices("rack", 2)), "");
  EXPECT_EQ(cluster.where({Gang{.count = 5}.slices("rack", 2)}),
            "podset slice size 2 at rack does not divide the 5 pods of the pod set: change the size or the "
            "number of pods");
}

TEST(TopologyRequests, SlicesInGroupsCanBeSwitchedOff) {
  Gang group = Gang{.count = 4}.required("rack").in("g");
  group.request([](auto& r) { r.pod_set_group_name = "g"; });
  Gang sliced = group;
  sliced.slices("kubernetes.io/hostname", 2);
  for (const bool on : {true, false}) {
    Cluster cluster({.grouped_slices = on});
    add_racks(cluster, 1, 2);
    EXPECT_EQ(mismatch(cluster, group), "");
    EXPECT_EQ(mismatch(cluster, sliced),
              on ? "" : "slices in a group of pod sets need the feature gate TASGroupedPodSetSlicing");
  }
}

TEST(TopologyRequests, SlicesOfSlicesCanBeSwitchedOff) {
  Cluster cluster({.multi_layer = false});
  cluster.topology("t", {"rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 4}.layers({{"rack", 4}})), "");
  EXPECT_EQ(mismatch(cluster, Gang{.count = 4}.layers({{"rack", 4}, {"kubernetes.io/hostname", 2}})),
            "slices of slices need the feature gate TASMultiLayerTopology");
}

TEST(TopologyRequests, GroupsAreALeaderAndWorkers) {
  Cluster cluster;
  add_racks(cluster, 1, 2);
  EXPECT_EQ(cluster.where({Gang{.count = 2}.in("g"), Gang{.count = 2}.in("g")}),
            "pod set group \"g\" must be a leader of one pod and one pod set of workers");
  EXPECT_EQ(cluster.where({Gang{.count = 0}.in("g"), Gang{.count = 2}.in("g")}), " | r1-n1:2");
}

}  // namespace
}  // namespace berth::engine::requests_test
