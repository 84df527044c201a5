// Kueue's kinds (kueue.x-k8s.io/v1beta2) as C++ values: the fields that decisions need or that Berth writes. Field
// names are the API's, defaults those of the CRDs. Decoding a valid object never fails; a missing field takes its
// default.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/meta.h"
#include "api/selector.h"
#include "base/amount.h"
#include "base/json.h"
#include "base/rare.h"
#include "base/shared_rare.h"

namespace berth::api::kueue {

inline constexpr std::string_view kGroup = "kueue.x-k8s.io";
inline constexpr std::string_view kVersion = "v1beta2";
inline constexpr std::string_view kFinalizer = "kueue.x-k8s.io/resource-in-use";
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

enum class StopPolicy : std::uint8_t { kNone, kHold, kHoldAndDrain };
enum class QueueingStrategy : std::uint8_t { kBestEffortFifo, kStrictFifo };
enum class FungibilityPolicy : std::uint8_t { kMayStopSearch, kTryNextFlavor };
enum class FungibilityPreference : std::uint8_t { kBorrowingOverPreemption, kPreemptionOverBorrowing };
enum class ReclaimWithinCohort : std::uint8_t { kNever, kLowerPriority, kAny };
enum class BorrowWithinCohort : std::uint8_t { kNever, kLowerPriority };
enum class WithinClusterQueue : std::uint8_t { kNever, kLowerPriority, kLowerOrNewerEqualPriority };

struct ResourceQuota {
  std::string name;
  Quantity nominal;
  std::optional<Quantity> borrowing_limit;  // none: unlimited
  std::optional<Quantity> lending_limit;    // none: all
};
struct FlavorQuotas {
  std::string name;
  std::vector<ResourceQuota> resources;
};
struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;  // in order of preference
};

struct ClusterQueue {
  ObjectMeta meta;
  std::vector<ResourceGroup> resource_groups;
  std::string cohort_name;
  QueueingStrategy queueing_strategy = QueueingStrategy::kBestEffortFifo;
  std::optional<LabelSelector> namespace_selector;  // none: matches no namespace
  FungibilityPolicy when_can_borrow = FungibilityPolicy::kMayStopSearch;
  FungibilityPolicy when_can_preempt = FungibilityPolicy::kTryNextFlavor;
  FungibilityPreference preference = FungibilityPreference::kBorrowingOverPreemption;
  ReclaimWithinCohort reclaim_within_cohort = ReclaimWithinCohort::kNever;
  BorrowWithinCohort borrow_within_cohort = BorrowWithinCohort::kNever;
  std::optional<std::int32_t> borrow_max_priority_threshold;
  WithinClusterQueue within_cluster_queue = WithinClusterQueue::kNever;
  struct CheckRule {
    std::string name;
    std::vector<std::string> on_flavors;  // empty: all
  };
  std::vector<CheckRule> admission_checks;
  StopPolicy stop_policy = StopPolicy::kNone;
  Quantity fair_weight = Quantity::of(1);  // fairSharing.weight (KEP-1714); not negative

  // Settings that are not in Kueue's API. A cluster queue that is made from a queue of another API sets them
  // (docs/adr/0013); decoding leaves the defaults.
  struct Terms {
    bool reclaimable = true;  // other queues may preempt its workloads
    // Workloads of queues with higher priority are admitted first; victims come first from queues with lower
    // priority.
    std::int32_t priority = 0;
    // When this queue preempts: how many ancestors of the victim's queue must exceed their quota, too; none: all
    // below the common ancestor (Kueue's rule).
    std::optional<std::int32_t> reclaim_levels;
    // The flavor of resources that no resource group covers; their nominal quota is 0, without borrowing or lending
    // limits. "": the queue has no quota for such resources.
    std::string flavor_of_the_rest;
    bool operator==(const Terms&) const = default;
  } terms;
  // admissionScope.admissionMode UsageBasedAdmissionFairSharing (KEP-4136)
  bool admission_by_usage = false;
};

struct Cohort {
  ObjectMeta meta;
  std::string parent_name;
  std::vector<ResourceGroup> resource_groups;
  Quantity fair_weight = Quantity::of(1);  // as in ClusterQueue
  // Has an unlimited quota of every resource that no group names. Not in Kueue's API, as ClusterQueue::terms.
  bool unbounded = false;
};

struct LocalQueue {
  ObjectMeta meta;
  std::string cluster_queue;
  StopPolicy stop_policy = StopPolicy::kNone;
  Quantity fair_weight = Quantity::of(1);  // fairSharing.weight; 0 or less: last
  // status.fairSharing.admissionFairSharingStatus (KEP-4136); none when it is missing or cannot be read
  struct PastUsage {
    std::map<std::string, Quantity> consumed;
    Time last_update{};
    bool operator==(const PastUsage&) const = default;
  };
  std::optional<PastUsage> past_usage;
};

// The levels of the data center, from the coarsest to the finest: the node labels that name the domains (KEP-2724).
struct Topology {
  ObjectMeta meta;
  std::vector<std::string> levels;  // 1 to 16; kubernetes.io/hostname only as the last
};

struct ResourceFlavor {
  ObjectMeta meta;
  StringMap node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;  // empty: its pods get no topology assignment
};

struct AdmissionCheck {
  ObjectMeta meta;
  std::string controller_name;
  // The object with the controller's settings for this check; none when the check names none.
  struct Parameters {
    std::string api_group, kind, name;
  };
  std::optional<Parameters> parameters;
  Conditions conditions;
};

struct WorkloadPriorityClass {
  ObjectMeta meta;
  std::int32_t value = 0;
};

// A pod set's request for topology domains (KEP-2724). At most one of required, preferred and unconstrained is set.
struct SliceLayer {
  std::string topology;   // a level: all pods of a slice are in one domain of this level
  std::int32_t size = 1;  // pods per slice
  bool operator==(const SliceLayer&) const = default;
};
struct TopologyRequest {
  std::optional<std::string> required, preferred;  // a level
  std::optional<bool> unconstrained;
  std::string pod_index_label, sub_group_index_label;
  std::optional<std::int32_t> sub_group_count;
  std::string pod_set_group_name;
  // Slices: either the two fields, or up to three layers from the coarsest to the finest.
  std::string slice_required_topology;
  std::optional<std::int32_t> slice_size;
  std::vector<SliceLayer> slice_constraints;

  // Whether the pod set explicitly requests a topology assignment. A group name or an index label alone does not.
  bool explicit_request() const {
    return required || preferred || unconstrained.value_or(false) || !slice_required_topology.empty() || slice_size ||
           !slice_constraints.empty();
  }
  bool operator==(const TopologyRequest&) const = default;
};

// One group of identical pods of a workload.
struct PodSet {
  std::string name = "main";
  JsonPtr template_;  // PodTemplateSpec; never null after decoding
  std::int32_t count = 1;
  std::optional<std::int32_t> min_count;
  SharedRare<TopologyRequest> topology_request;
};

// The domains assigned to the pods of a pod set, ordered by their values; every count is at least 1.
struct TopologyDomain {
  std::vector<std::string> values;  // one per level
  std::int32_t count = 0;
  bool operator==(const TopologyDomain&) const = default;
};
struct TopologyAssignment {
  std::vector<std::string> levels;  // only hostname when that is the lowest level of the topology, else all levels
  std::vector<TopologyDomain> domains;
  bool operator==(const TopologyAssignment&) const = default;
};
using TopologyAssignmentPtr = std::shared_ptr<const TopologyAssignment>;  // large, shared by copies of a status

enum class DelayedTopology : std::uint8_t { kNone, kPending, kReady };  // delayedTopologyRequest

struct PodSetAssignment {
  std::string name = "main";
  StringMap flavors;  // resource -> flavor
  ResourceList resource_usage;
  std::int32_t count = 0;
  TopologyAssignmentPtr topology_assignment;  // null when there is none
  DelayedTopology delayed_topology = DelayedTopology::kNone;
  bool operator==(const PodSetAssignment& other) const;  // by value of the topology assignment
};
struct Admission {
  std::string cluster_queue;
  std::vector<PodSetAssignment> pod_set_assignments;
  bool operator==(const Admission&) const = default;
};

enum class CheckState : std::uint8_t { kPending, kReady, kRetry, kRejected };
struct PodSetUpdate {
  std::string name;
  StringMap labels, annotations, node_selector;
  std::vector<Toleration> tolerations;
  bool operator==(const PodSetUpdate&) const = default;
};
struct AdmissionCheckState {
  std::string name;
  CheckState state = CheckState::kPending;
  Time last_transition{};
  std::string message;
  std::optional<std::int32_t> requeue_after_seconds;
  std::optional<std::int32_t> retry_count;
  std::vector<PodSetUpdate> pod_set_updates;
  bool operator==(const AdmissionCheckState&) const = default;
};

struct RequeueState {
  std::optional<std::int32_t> count;
  std::optional<Time> requeue_at;
  bool operator==(const RequeueState&) const = default;
};
struct ReclaimablePod {
  std::string name;
  std::int32_t count = 0;
  bool operator==(const ReclaimablePod&) const = default;
};
struct PodSetRequest {
  std::string name;
  ResourceList resources;
  bool operator==(const PodSetRequest&) const = default;
};
struct EvictionCount {
  std::string reason, underlying_cause;
  std::int32_t count = 0;
  bool operator==(const EvictionCount&) const = default;
};

// A workload with a closed gate must not preempt other workloads (KEP-8303).
struct PreemptionGate {
  std::string name;
  bool open = false;  // position
  Time last_transition{};
  bool operator==(const PreemptionGate&) const = default;
};

struct WorkloadStatus {
  Conditions conditions;
  std::optional<Admission> admission;
  std::optional<RequeueState> requeue_state;
  std::vector<ReclaimablePod> reclaimable_pods;
  std::vector<AdmissionCheckState> admission_checks;
  std::vector<PodSetRequest> resource_requests;
  std::optional<std::int32_t> accumulated_past_execution_time_seconds;
  std::vector<EvictionCount> evictions;          // schedulingStats.evictions
  std::vector<std::string> unhealthy_nodes;      // failed nodes whose pods need another node; at most 8 names
  std::vector<PreemptionGate> preemption_gates;  // those of the spec, with their positions; at most 8
  bool has_more = false;  // the decoded status had other fields, too, which only a patch preserves
  // MultiKueue: the cluster that runs the job, or those that are asked for it; at most one of both is set. Up to 20
  // names.
  std::string cluster_name;
  std::vector<std::string> nominated_cluster_names;
  bool operator==(const WorkloadStatus&) const = default;
};

struct PriorityClassRef {
  std::string group, kind, name;
  bool operator==(const PriorityClassRef&) const = default;
};

struct Workload {
  ObjectMeta meta;
  std::vector<PodSet> pod_sets;
  std::string queue_name;
  std::optional<PriorityClassRef> priority_class_ref;
  std::int32_t priority = 0;
  bool active = true;
  std::optional<std::int32_t> maximum_execution_time_seconds;
  std::vector<std::string> preemption_gates;  // names
  WorkloadStatus status;
};

Result<ClusterQueue> decode_cluster_queue(const Json& object);
Result<Cohort> decode_cohort(const Json& object);
Result<LocalQueue> decode_local_queue(const Json& object);
Result<ResourceFlavor> decode_resource_flavor(const Json& object);
Result<Topology> decode_topology(const Json& object);
Result<AdmissionCheck> decode_admission_check(const Json& object);
Result<WorkloadPriorityClass> decode_workload_priority_class(const Json& object);
// Returns the document that a decoded workload keeps as its pod template; it may share one between equal templates.
using TemplateKeeper = std::function<JsonPtr(const Json& pod_template)>;
JsonPtr copy_template(const Json& pod_template);  // makes a new copy each time
Result<Workload> decode_workload(const Json& object, const TemplateKeeper& keep = copy_template);
TopologyRequest decode_topology_request(const Json& value);  // lenient: the value is validated already
Json encode_topology_request(const TopologyRequest& request);

Json encode_workload(const Workload& workload);             // the whole object, without status when it is empty
Json encode_workload_status(const WorkloadStatus& status);  // the value of .status; absent parts are left out

// Condition types and reasons of a Workload.
inline constexpr std::string_view kQuotaReserved = "QuotaReserved";
inline constexpr std::string_view kWaitingForReplacementPods = "WaitingForReplacementPods";
inline constexpr std::string_view kAdmitted = "Admitted";
inline constexpr std::string_view kPodsReady = "PodsReady";
inline constexpr std::string_view kPodsScheduled = "PodsScheduled";
inline constexpr std::string_view kFinished = "Finished";
inline constexpr std::string_view kEvicted = "Evicted";
inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kRequeued = "Requeued";
inline constexpr std::string_view kDeactivationTarget = "DeactivationTarget";
inline constexpr std::string_view kBlockedOnPreemptionGates = "BlockedOnPreemptionGates";

}  // namespace berth::api::kueue
