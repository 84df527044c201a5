// Load files of the tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "embedded/simulate/load.h"

namespace berth::simulation::load_tests {

// Two queues that may borrow from each other. Each gets four small workloads (1 cpu for 2 s, one per second) and a
// large one (4 cpu for 3 s) after 1500 ms.
inline constexpr std::string_view kTwoQueues = R"(
cohorts:
- className: hall
  count: 1
  queuesSets:
  - className: team
    count: 2
    nominalQuota: 4
    borrowingLimit: 2
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    workloadsSets:
    - count: 4
      creationIntervalMs: 1000
      workloads:
      - {className: small, runtimeMs: 2000, priority: 10, request: 500m, podCount: 2}
    - count: 1
      creationIntervalMs: 1500
      workloads:
      - {className: large, runtimeMs: 3000, priority: 100, request: 4}
)";

inline constexpr std::string_view kRacks = R"(
topology:
  name: room
  levels:
  - {name: rack, count: 2, nodeLabel: example.com/rack}
  - {name: node, count: 3, nodeLabel: kubernetes.io/hostname, capacity: {cpu: 8, memory: 32Gi}}
resourceFlavor: {name: placed, nodeLabel: example.com/group, topologyName: room}
cohorts:
- className: hall
  count: 1
  queuesSets:
  - className: team
    count: 1
    nominalQuota: 8
    workloadsSets:
    - count: 2
      creationIntervalMs: 100
      workloads:
      - {className: tight, runtimeMs: 500, request: 1, podCount: 4, tasConstraint: required, tasLevel: example.com/rack}
      - {className: loose, runtimeMs: 500, request: 1, podCount: 4, tasConstraint: preferred, tasLevel: example.com/rack}
      - {className: sliced, runtimeMs: 500, request: 1, podCount: 4, tasConstraint: balanced, tasLevel: example.com/rack, sliceSize: 2}
)";

inline simulate::Load parsed(std::string_view text, const simulate::LoadOptions& options = {}) {
  auto load = simulate::parse_load(text, options);
  if (!load) {
    ADD_FAILURE() << load.error().message;
    return {};
  }
  return *std::move(load);
}

inline std::string error_of(std::string_view text) {
  const auto load = simulate::parse_load(text);
  return load ? "(no error)" : load.error().message;
}

// `text` with the first `from` replaced by `to`.
inline std::string changed(std::string_view from, std::string_view to, std::string_view text = kTwoQueues) {
  std::string out(text);
  const auto at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) out.replace(at, from.size(), to);
  return out;
}

}  // namespace berth::simulation::load_tests
