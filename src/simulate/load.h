// Loads: queues by the dozen and workloads by the thousand in a few lines, in the language of Kueue's
// scheduler benchmark, so that one file can load both.
//
//   topology:                                   # optional: nodes, and the Topology they are in
//     name: machine-room
//     levels:                                   # from the top; count: how many in each of the level above
//     - {name: rack, count: 10, nodeLabel: example.com/rack}
//     - {name: node, count: 64, nodeLabel: kubernetes.io/hostname, capacity: {cpu: 96, memory: 256Gi}}
//   resourceFlavor: {name: cpus, nodeLabel: example.com/group, topologyName: machine-room}   # optional
//   cohorts:                                    # every set makes `count` of its kind
//   - className: cohort
//     count: 5
//     queuesSets:
//     - className: team                         # a ClusterQueue, and a namespace and LocalQueue of its name
//       count: 6
//       nominalQuota: 20                        # of cpu
//       borrowingLimit: 100                     # optional
//       reclaimWithinCohort: Any                # optional, as withinClusterQueue: Never
//       withinClusterQueue: LowerPriority
//       workloadsSets:                          # all sets of a queue are submitted side by side
//       - count: 350                            # times through the list below
//         creationIntervalMs: 100               # before each workload
//         workloads:
//         - className: small                    # what reports are by
//           runtimeMs: 200
//           priority: 50
//           request: 500m                       # cpu of each pod
//           podCount: 2                         # optional: 1
//           tasConstraint: required             # optional; with tasLevel: required, preferred or balanced
//           tasLevel: example.com/rack
//           sliceSize: 2                        # balanced: pods of a slice, each slice within tasLevel
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/time.h"

namespace berth::simulate {

inline constexpr std::size_t kMaxSubmissions = 1'000'000;  // of one load: what fits into memory

struct LoadOptions {
  std::size_t limit = kMaxSubmissions;  // at most this many times through each workloadsSet
};

// One entry of a workloadsSet.
struct LoadKind {
  enum class Topology : std::uint8_t { kNone, kRequired, kPreferred, kSlices };
  std::string class_name;
  Duration runtime{};
  std::int32_t priority = 0;
  Quantity request;  // cpu of each pod
  std::int64_t pods = 1;
  Topology topology = Topology::kNone;
  std::string level;            // of the topology
  std::int64_t slice_size = 0;  // kSlices; 0: not said

  double work() const;  // cpu times seconds
};

struct LoadQueue {
  std::string name;  // of the ClusterQueue, the LocalQueue and its namespace
  std::string cohort;
  Quantity nominal;
  std::optional<Quantity> borrowing_limit;
};

struct Submission {
  Duration at{};          // since the start
  std::size_t queue = 0;  // of Load::queues
  std::size_t kind = 0;   // of Load::kinds
  std::string name;
};

struct Load {
  std::vector<Json> nodes;    // without a topology: one per queue, each large enough for all quota
  std::vector<Json> objects;  // to be created in this order before the first submission
  std::vector<LoadQueue> queues;
  std::vector<LoadKind> kinds;
  std::vector<Submission> submissions;  // ordered by time, queue and name
  // No schedule ends sooner: the work of a cohort over its nominal quota, or of a queue over all it may use.
  Duration quota_floor{};
};

// From YAML. Errors name the place in the document and what was expected there.
Result<Load> parse_load(std::string_view text, const LoadOptions& options = {});

// What is submitted: a Workload nobody owns, or a Job whose pods the pretend cluster runs.
Json workload_of(const Load& load, const Submission& submission);
Json job_of(const Load& load, const Submission& submission);
// Of the kinds that loads are made of, and of events about them.
api::GroupVersionResource load_resource(std::string_view kind);

}  // namespace berth::simulate
