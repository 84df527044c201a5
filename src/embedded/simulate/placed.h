// Checks that a job is placed as expected: the entries of `placed:` in scenarios.
//
//   - job: train                                            # a batch Job or a group of pods; namespace: default
//     podSet: main                                          # optional; without it all pod sets together
//     domains: {cloud.provider.com/topology-rack: 1}        # number of racks that its places lie in
//     on: {cloud.provider.com/topology-rack: [b1-r1]}       # exactly these racks
//     pods: 64                                              # number of its pods that are bound to nodes
//     assigned: false                                       # it has no topology assignment (yet)
//
// A label is a node label or a level of the assignment. In addition it is always checked that each bound pod is in
// one of the assigned domains, and that no domain has more pods than it was assigned.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::simulate {

struct PlacedExpectation {
  std::string job, ns = "default", pod_set;
  std::map<std::string, std::int64_t> domains;
  std::map<std::string, std::vector<std::string>> on;
  std::optional<std::int64_t> pods;
  bool assigned = true;
};
// `path` names the entry in error messages.
Result<PlacedExpectation> parse_placed(const Json& value, const std::string& path);

// Returns each difference as a sentence. The objects are those of the whole cluster, or of the job's namespace.
std::vector<std::string> placement_differences(const PlacedExpectation& expected, const std::vector<Json>& workloads,
                                               const std::vector<Json>& nodes, const std::vector<Json>& pods);

// The workload in the list that the Job owns, or that has this name; null when there is none.
const Json* workload_of(const std::vector<Json>& workloads, std::string_view ns, std::string_view job);

}  // namespace berth::simulate
