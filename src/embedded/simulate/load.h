// Loads: dozens of queues and thousands of workloads described in a few lines. The language follows the generator
// configuration of Kueue's scheduler benchmark, so that one file can drive both.
//
//   topology:                                   # optional: the nodes and their Topology
//     name: data-center
//     levels:                                   # from the top; count: number in each domain of the level above
//     - {name: rack, count: 10, nodeLabel: example.com/rack}
//     - {name: node, count: 64, nodeLabel: kubernetes.io/hostname, capacity: {cpu: 96, memory: 256Gi}}
//   resourceFlavor: {name: cpus, nodeLabel: example.com/group, topologyName: data-center}   # optional
//   cohorts:                                    # each set makes `count` objects
//   - className: cohort
//     count: 5
//     queuesSets:
//     - className: team                         # a ClusterQueue, and a namespace and LocalQueue of this name
//       count: 6
//       nominalQuota: 20                        # of cpu
//       borrowingLimit: 100                     # optional
//       reclaimWithinCohort: Any                # optional, like withinClusterQueue; default: Never
//       withinClusterQueue: LowerPriority
//       workloadsSets:                          # all sets of a queue are submitted in parallel
//       - count: 350                            # number of times the list below is submitted
//         creationIntervalMs: 100               # wait before each workload
//         workloads:
//         - className: small                    # reports are grouped by this name
//           runtimeMs: 200
//           priority: 50
//           request: 500m                       # cpu of each pod
//           podCount: 2                         # optional; default: 1
//           tasConstraint: required             # optional, with tasLevel: required, preferred or balanced
//           tasLevel: example.com/rack
//           sliceSize: 2                        # for balanced: pods of a slice; a slice stays in one tasLevel domain
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

inline constexpr std::size_t kMaxSubmissions = 1'000'000;  // in one load; bounds memory

struct LoadOptions {
  std::size_t limit = kMaxSubmissions;  // each workloadsSet submits its list at most this many times
  // N consecutive workloads of a workloadsSet become one: N times the pods, each of which asks for 1/N and runs N times
  // as long. Pods per second, the work and the quota floor stay the same.
  std::int64_t merge = 1;
};
inline constexpr std::int64_t kLoadGroup = 10;  // LoadOptions::merge for groups of pods

// One entry of a workloadsSet.
struct LoadKind {
  enum class Topology : std::uint8_t { kNone, kRequired, kPreferred, kSlices };
  std::string class_name;
  Duration runtime{};
  std::int32_t priority = 0;
  Quantity request;  // cpu of each pod
  std::int64_t pods = 1;
  Topology topology = Topology::kNone;
  std::string level;            // a level of the topology: its node label
  std::int64_t slice_size = 0;  // for kSlices; 0: not set

  double work() const;  // cpu times seconds
};

struct LoadQueue {
  std::string name;  // of the ClusterQueue, the LocalQueue and the namespace
  std::string cohort;
  Quantity nominal;
  std::optional<Quantity> borrowing_limit;
};

struct Submission {
  Duration at{};          // since the start
  std::size_t queue = 0;  // index in Load::queues
  std::size_t kind = 0;   // index in Load::kinds
  std::string name;
};

struct Load {
  std::vector<Json> nodes;    // without a topology: one per queue, each large enough for all quota
  std::vector<Json> objects;  // create these in this order, before the first submission
  std::vector<LoadQueue> queues;
  std::vector<LoadKind> kinds;
  std::vector<Submission> submissions;  // ordered by time, queue and name
  // Lower bound for the makespan: a cohort's work divided by its nominal quota, or a queue's work divided by the most
  // quota it may use, whichever is longest.
  Duration quota_floor{};
};

// Parses YAML. An error names the place in the document and what was expected there.
Result<Load> parse_load(std::string_view text, const LoadOptions& options = {});

// The object to submit: a Workload without an owner, or a Job whose pods the pretend cluster runs.
Json workload_of(const Load& load, const Submission& submission);
Json job_of(const Load& load, const Submission& submission);
// A JobSet of two replicated jobs. Each has as many pods as the workload, of half the request.
Json job_set_of(const Load& load, const Submission& submission);
// A pod of a submission: a single pod, or number `index` of a group. It has what Kueue's webhook gives it, because not
// every server calls webhooks. `attempt`: how many pods in its place were deleted before.
Json pod_of(const Load& load, const Submission& submission, std::size_t index, std::size_t attempt);
// The resource of a kind that loads create (Event is included: remove_load deletes events).
api::GroupVersionResource load_resource(std::string_view kind);

}  // namespace berth::simulate
