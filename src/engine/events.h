// Events: what the shell saw. "Seen" means created or changed: the engine compares it with what it knows.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "api/core/node.h"
#include "api/kueue/device_charge.h"
#include "api/kueue/job_report.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "engine/ptr.h"
#include "engine/queue/usage_record.h"

namespace berth::engine {

struct ClusterQueueSeen {
  Ptr<api::kueue::ClusterQueue> object;
};
struct ClusterQueueGone {
  std::string name;
};
struct CohortSeen {
  Ptr<api::kueue::Cohort> object;
};
struct CohortGone {
  std::string name;
};
struct LocalQueueSeen {
  Ptr<api::kueue::LocalQueue> object;
};
struct LocalQueueGone {
  std::string ns, name;
};
struct ResourceFlavorSeen {
  Ptr<api::kueue::ResourceFlavor> object;
};
struct ResourceFlavorGone {
  std::string name;
};
struct AdmissionCheckSeen {
  Ptr<api::kueue::AdmissionCheck> object;
};
struct AdmissionCheckGone {
  std::string name;
};
struct NamespaceSeen {
  std::string name;
  api::StringMap labels;
};
struct NamespaceGone {
  std::string name;
};
struct LimitRangeSeen {
  std::string ns, name;
  std::vector<api::LimitRangeItem> items;
};
struct LimitRangeGone {
  std::string ns, name;
};
// `overhead`: overhead.podFixed as an object of quantities, or null.
struct RuntimeClassSeen {
  std::string name;
  JsonPtr overhead;
};
struct RuntimeClassGone {
  std::string name;
};
struct TopologySeen {
  Ptr<api::kueue::Topology> object;
};
struct TopologyGone {
  std::string name;
};
struct NodeSeen {
  Ptr<api::Node> object;
};
struct NodeGone {
  std::string name;
};
// A pod that occupies a node: bound to it, or without scheduling gates and with a node selector for it
// (PodPlacement::holds_node). Pods of every owner count. With waitForPodsReady.unscheduledTimeout, also every pod that
// names its workload.
struct PodSeen {
  Ptr<api::kueue::PodPlacement> object;
};
struct PodGone {
  std::string uid;
};  // deleted; or terminated, and PodSeen does not tell it
struct WorkloadSeen {
  Ptr<api::kueue::Workload> object;
};
struct WorkloadGone {
  std::string ns, name, uid;
};
// What a job reports about its workload. Only the engine writes a workload's status: what the job knows (finished,
// pods ready, reclaimable pods, stopped after an eviction) reaches the status through this event. The latest report
// counts; repeating a report costs nothing.
struct JobReported {
  std::string ns, name;  // of the workload
  api::kueue::JobReport report;
};
// The result of one of Berth's own admission check controllers, for a workload that reserves quota. Controllers of
// other vendors write the status themselves. The report is dropped when the workload does not list the check, or when
// the check has been reset since (its retryCount differs).
struct CheckReported {
  std::string ns, name;                   // of the workload
  api::kueue::AdmissionCheckState state;  // last_transition is set by the engine
};
// What MultiKueue's dispatch says about a workload that reserves quota: the state of its check and the clusters.
// Dropped when the engine knows another version of the workload than `resource_version`, or for the reasons of
// CheckReported.
struct DispatchReported {
  std::string ns, name;                   // of the workload
  std::string resource_version;           // on which the report is based
  api::kueue::AdmissionCheckState check;  // last_transition is set by the engine
  std::string cluster_name;               // that runs the job; "": none
  std::vector<std::string> nominated_cluster_names;
};
// The outcome of a write that the engine asked for. kDone: `resource_version` is the new version. kConflict: the
// object changed meanwhile; its new version arrives as WorkloadSeen. kGone: the object does not exist any more.
// kFailed: the write was refused, or its outcome is unknown.
struct WriteSettled {
  enum class Outcome : std::uint8_t { kDone, kConflict, kGone, kFailed };
  std::uint64_t write = 0;
  Outcome outcome = Outcome::kDone;
  std::string resource_version;
  std::string message;
};
struct TimePassed {};  // a timer fired: only `now` matters
// What a local queue used lately, exactly. Only Engine::inputs() makes it; LocalQueueSeen comes before it, workloads
// after it.
struct UsageRecalled {
  UsageRecord record;
};
// What the devices of the pods of a workload count, or why they cannot be counted; null: they use no devices that are
// counted. Comes after the WorkloadSeen that it is about and before the next decision. Without it, a workload whose
// pods have claims is held, so that nothing runs uncounted. Quota is charged by it while the workload has none; what
// nodes must have for the pods (on_node) holds for a workload with places, too.
struct DevicesCounted {
  std::string ns, name, uid;  // of the workload
  Ptr<api::kueue::DeviceCharge> charge;
};
// All that a node has of devices, by names that begin with kDevice or kDevicePart, whole numbers: what is free, and
// what is taken of it according to DevicesTaken. Empty: it has none. The node may be unknown yet.
struct NodeDevicesSeen {
  std::string node;
  api::ResourceList devices;
};
// What the devices that are allocated to a claim take of a node, by the same names. It counts like a pod of the
// workload there, so that devices that the places of a workload count are not counted twice. Empty amounts: nothing any
// more.
struct DevicesTaken {
  std::string claim;         // its UID
  std::string ns, workload;  // of the pod that has it; "": it belongs to no workload
  std::string node;
  api::ResourceList amounts;
};
struct Synced {};  // The shell's caches are complete: decisions may begin. Before this event the engine only learns.

using Event = std::variant<ClusterQueueSeen, ClusterQueueGone, CohortSeen, CohortGone, LocalQueueSeen, LocalQueueGone,
                           ResourceFlavorSeen, ResourceFlavorGone, AdmissionCheckSeen, AdmissionCheckGone,
                           NamespaceSeen, NamespaceGone, LimitRangeSeen, LimitRangeGone, RuntimeClassSeen,
                           RuntimeClassGone, TopologySeen, TopologyGone, NodeSeen, NodeGone, PodSeen, PodGone,
                           WorkloadSeen, WorkloadGone, JobReported, CheckReported, WriteSettled, TimePassed, Synced,
                           UsageRecalled, DevicesCounted, NodeDevicesSeen, DevicesTaken, DispatchReported>;

}  // namespace berth::engine
