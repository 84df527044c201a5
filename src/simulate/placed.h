// Is a job placed as expected? What scenarios say under `placed:`.
//
//   - job: train                                            # a batch Job; namespace: default unless said
//     podSet: main                                          # optional: else all of them together
//     domains: {cloud.provider.com/topology-rack: 1}        # its places lie in so many racks
//     on: {cloud.provider.com/topology-rack: [b1-r1]}       # in exactly these
//     pods: 64                                              # so many of its pods hold nodes
//     assigned: false                                       # or: it has no places (yet)
//
// Labels are those of nodes, or levels of the assignment. Always checked besides: every pod that holds a node
// is inside the places, and no place has more pods than it was given for.
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
// `path` names the entry in errors.
Result<PlacedExpectation> parse_placed(const Json& value, const std::string& path);

// Every difference as a sentence. The objects are those of the whole cluster, or of the job's namespace.
std::vector<std::string> placement_differences(const PlacedExpectation& expected,
                                               const std::vector<Json>& workloads,
                                               const std::vector<Json>& nodes, const std::vector<Json>& pods);

// The workload that a Job owns among these; null when there is none.
const Json* workload_of(const std::vector<Json>& workloads, std::string_view ns, std::string_view job);

}  // namespace berth::simulate
