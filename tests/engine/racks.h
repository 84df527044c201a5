// A gang on two racks of nodes, some of which fail.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/support/scenario.h"

namespace berth::engine::racks {

using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::PodBuilder;
using test::Scenario;
using test::WorkloadBuilder;

// Two racks of three nodes, two pods per node. The gang a has four running pods on the first two nodes of rack r1.
struct Racks : Scenario {
  explicit Racks(Options options = {}) : Scenario(options) {
    give(test::topology("t"));
    give(test::placed_flavor("f", "t"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}));
    give(test::local_queue("q", "cq"));
    for (const char* node : {"r1-n1", "r1-n2", "r1-n3"}) give(NodeBuilder(node, "r1"));
    for (const char* node : {"r2-n1", "r2-n2", "r2-n3"}) give(NodeBuilder(node, "r2"));
    give(WorkloadBuilder("a").pods(4, "2").required("rack"));
    run();
    EXPECT_EQ(places_of("a"), "r1-n1:2 r1-n2:2");
    for (const char* pod : {"p1", "p2"}) give(PodBuilder(pod, "a", "r1-n1"));
    for (const char* pod : {"p3", "p4"}) give(PodBuilder(pod, "a", "r1-n2"));
    run();
    take_events();
  }
  void pods_end(const std::vector<std::string>& pods) {
    for (const auto& pod : pods) take(PodGone{"uid-" + pod});
  }
  const std::vector<std::string>& unhealthy() const { return workload("a").status.unhealthy_nodes; }
};

inline Options with(const std::function<void(Options&)>& edit) {
  Options out;
  edit(out);
  return out;
}

}  // namespace berth::engine::racks
