// Effects: what the shell must do, in this order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "api/kueue/types.h"
#include "base/time.h"
#include "engine/ptr.h"

namespace berth::engine {

// Writes the complete new status of the workload: one request, with uid and resourceVersion as preconditions. The
// shell sends only what differs from `base` (the version that the decision was made on).
struct WriteWorkloadStatus {
  std::uint64_t write = 0;  // answered by WriteSettled
  Ptr<api::kueue::Workload> base;
  api::kueue::WorkloadStatus status;
  bool operator==(const WriteWorkloadStatus&) const = default;
};
// Sets spec.active=false on a workload that carries a DeactivationTarget condition.
struct DeactivateWorkload {
  std::uint64_t write = 0;
  Ptr<api::kueue::Workload> base;
  bool operator==(const DeactivateWorkload&) const = default;
};
// An event of events.k8s.io/v1 about an object; `related` may be empty.
struct RecordEvent {
  std::string kind;  // "Workload", "ClusterQueue", ...
  std::string ns, name, uid, resource_version;
  bool warning = false;
  std::string reason;
  std::string note;  // at most 1024 bytes, cut there
  // Kueue's name of the reporting part: kueue-admission for what the scheduler does (preemption included),
  // kueue-workload-controller for evictions, checks and deactivation.
  std::string controller = "kueue-admission";
  bool operator==(const RecordEvent&) const = default;
};
// The status of this queue may differ from what the API holds: call cluster_queue_status() or local_queue_status()
// when convenient (the shell coalesces) and write the difference. The same for cohort_status(), which has content
// only with fair sharing.
struct ClusterQueueStatusChanged {
  std::string name;
  bool operator==(const ClusterQueueStatusChanged&) const = default;
};
struct LocalQueueStatusChanged {
  std::string ns, name;
  bool operator==(const LocalQueueStatusChanged&) const = default;
};
struct CohortStatusChanged {
  std::string name;
  bool operator==(const CohortStatusChanged&) const = default;
};
// Adds (`present`) or removes the finalizer kueue.x-k8s.io/resource-in-use.
struct SetFinalizer {
  std::string kind;  // ClusterQueue, ResourceFlavor, AdmissionCheck, Topology
  std::string name;
  bool present = true;
  bool operator==(const SetFinalizer&) const = default;
};
// Deletes a workload whose retention time has ended (Configuration: objectRetentionPolicies). `with_job`: delete the
// job that controls the workload, and the workload with it. Preconditions: the uids. No WriteSettled follows; the
// engine repeats the effect while the workload exists.
struct ExpireWorkload {
  Ptr<api::kueue::Workload> workload;
  bool with_job = false;
  bool operator==(const ExpireWorkload&) const = default;
};
struct WakeAt {
  Time when;
  bool operator==(const WakeAt&) const = default;
};  // deliver TimePassed then; a later WakeAt replaces an earlier one

using Effect = std::variant<WriteWorkloadStatus, DeactivateWorkload, RecordEvent, ClusterQueueStatusChanged,
                            LocalQueueStatusChanged, CohortStatusChanged, SetFinalizer, ExpireWorkload, WakeAt>;
using Effects = std::vector<Effect>;

}  // namespace berth::engine
