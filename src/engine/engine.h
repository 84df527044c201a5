// The engine: takes events, returns effects. It is pure: no thread, no clock, no socket, no log, no random number, no
// global. The same options and the same events give the same effects, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/config/policies.h"
#include "api/core/node.h"
#include "api/kueue/job_report.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "base/time.h"
#include "engine/explain/explanation.h"
#include "engine/queue/usage_record.h"
#include "engine/topology/options.h"

namespace berth::engine {

template <typename T>
using Ptr = std::shared_ptr<const T>;

// --- Events: what the shell saw. "Seen" means created or changed: the engine compares it with what it knows. ---

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
// (PodPlacement::holds_node). Pods of every owner count.
struct PodSeen {
  Ptr<api::kueue::PodPlacement> object;
};
struct PodGone {
  std::string uid;
};  // deleted, or terminated
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
struct Synced {};  // The shell's caches are complete: decisions may begin. Before this event the engine only learns.

using Event =
    std::variant<ClusterQueueSeen, ClusterQueueGone, CohortSeen, CohortGone, LocalQueueSeen, LocalQueueGone,
                 ResourceFlavorSeen, ResourceFlavorGone, AdmissionCheckSeen, AdmissionCheckGone, NamespaceSeen,
                 NamespaceGone, LimitRangeSeen, LimitRangeGone, RuntimeClassSeen, RuntimeClassGone, TopologySeen,
                 TopologyGone, NodeSeen, NodeGone, PodSeen, PodGone, WorkloadSeen, WorkloadGone, JobReported,
                 CheckReported, WriteSettled, TimePassed, Synced, UsageRecalled>;

// --- Effects: what the shell must do, in this order. ---

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

// Kueue's feature gates and settings that change decisions; defaults as Kueue's.
struct Options {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool reclaimable_pods = true;
  bool scheduling_equivalence_hashing = true;
  api::config::WaitForPodsReady wait_for_pods_ready;
  api::config::WorkloadRetention retention;
  api::config::QuotaResources resources;
  api::config::FairSharing fair_sharing;
  // FairSharingPreemptWithinNominal: a queue that stays within its nominal quota may reclaim from any borrower
  bool fair_preempt_within_nominal = true;
  // FairSharingPrioritizeNonBorrowing: a workload that borrows nothing of what it requests goes first
  bool fair_prioritize_non_borrowing = true;
  bool preemption_gates =
      false;  // MultiKueueOrchestratedPreemption: a workload with a closed preemption gate preempts nothing
  bool priority_boost = false;  // PriorityBoost: an annotation adds to the priority of its workload
  // PrioritizePreemptorWorkloads: quota that victims give back stays reserved for their preemptor until all of them
  // are gone, whatever the queueing strategy of its queue.
  bool prioritize_preemptors = false;
  // RecomputeAssignmentUponPreemptionTargetsOverlap: when another workload of the same cycle has chosen the same
  // victims, assign flavors again as if these were gone. Off: the workload waits for the next cycle.
  bool recompute_on_overlap = true;
  // How the status says why a workload is not admitted. UnadmittedWorkloadsObservability: one reason per cause (off:
  // only Pending, Inadmissible or Waiting, and Admitted=False only for workloads that were admitted before).
  // UnadmittedWorkloadsExplicitStatus: also for a workload that was not evaluated because it shares the verdict of an
  // equivalent one.
  bool unadmitted_observability = true;
  bool unadmitted_explicit_status = true;
  TopologyOptions topology;
  api::config::TopologyWaits topology_waits;
  // Replacement of failed nodes (KEP-2724).
  bool replace_failed_nodes = true;  // TASFailedNodeReplacement
  // TASFailedNodeReplacementFailFast: evict when the first search for a replacement fails
  bool replace_fail_fast = true;
  bool replace_on_pod_termination = true;  // TASReplaceNodeOnPodTermination; off: after 30 s of NotReady
  bool replace_on_taints = true;           // TASReplaceNodeOnNodeTaints
  // Berth's own: replace several failed nodes of one workload in one joint placement. Off: the second one evicts, as
  // in Kueue.
  bool replace_several_nodes = true;
  api::config::AdmissionFairSharing admission_fair_sharing;
  bool admission_by_usage = true;  // AdmissionFairSharing: off as if the part of the configuration were missing
};

struct FlavorUsageStatus {
  std::string flavor;
  struct Resource {
    std::string name;
    Amount total, borrowed;
  };
  std::vector<Resource> resources;
};
// How much a cluster queue or cohort borrows of what its parent cohort can lend, divided by its weight (KEP-1714).
// With fair sharing only.
struct FairShareStatus {
  std::int64_t weighted_share = 0;  // in thousandths, rounded up; the largest number when infinite
  // The exact value is borrowed / lendable / weight, for the dominant resource. Metrics report it as floating point.
  std::int64_t borrowed = 0, lendable = 1;
  Quantity::Fraction weight{1, 1};
  bool infinite = false;  // weight is 0 and the node borrows
};
struct ClusterQueueStatus {
  bool active = false;
  std::string reason, message;  // of the Active condition
  std::vector<FlavorUsageStatus> reservation, usage;
  std::int32_t pending = 0, reserving = 0, admitted = 0;
  std::optional<FairShareStatus> fair_share{};
};
struct CohortStatus {
  std::optional<FairShareStatus> fair_share;
};
// A workload that waits for quota, and its position (Kueue's visibility API, KEP-168). Positions are 0-based and
// follow the order of evaluation: sticky workload, higher priority, older queue-order timestamp, UID. Parked
// workloads have positions too. The position in a local queue counts only workloads that were submitted through it.
struct PendingWorkload {
  Ptr<api::kueue::Workload> object;  // as the API holds it
  std::size_t position_in_cluster_queue = 0, position_in_local_queue = 0;
};
struct PendingPosition {
  std::string cluster_queue;
  std::size_t in_cluster_queue = 0, in_local_queue = 0;
};
// What a local queue used lately (KEP-4136), by resource. Changes about once per sampling interval, and when a workload
// of the queue begins or ends to hold quota.
struct PastUsageStatus {
  std::map<std::string, Quantity> consumed;
  Time last_update{};
  // By which the queue is compared with others: weighted, with what was charged in advance, by the queue's weight.
  Quantity score;
  bool last = false;  // the weight is 0: it comes after all others
};
struct LocalQueueStatus {
  bool active = false;
  std::string reason, message;
  std::vector<FlavorUsageStatus> reservation, usage;
  std::int32_t pending = 0, reserving = 0, admitted = 0;
  std::optional<PastUsageStatus> past_usage{};  // with admission fair sharing only
};

// What one workload holds, according to the decisions so far.
struct HeldQuota {
  // its status includes decisions not yet written; valid until the next handle() or schedule()
  const api::kueue::Workload* workload = nullptr;
  std::string cluster_queue;
  std::map<std::string, Amount> amounts;  // by resource, summed over all flavors
};

// Pending workloads of a cluster queue. `active`: wait for their turn. `inadmissible`: wait until something changes
// (parked, in back-off, on hold), or all of them while the queue may not admit.
struct PendingCounts {
  std::size_t active = 0, inadmissible = 0;
};

// What a workload counts as in its queues.
struct WorkloadStanding {
  const api::kueue::Workload& workload;
  std::string_view cluster_queue;             // of its admission, else of its local queue; "": unknown
  std::string_view local_queue;               // "namespace/name"
  bool active = false, inadmissible = false;  // as in PendingCounts; neither: it does not wait
  bool reserving = false, admitted = false;   // holds quota; holds it and is admitted
};

// The workloads of a queue that are not admitted, according to the decisions so far.
struct QueueCensus {
  // Why a workload is not admitted: the reason of Admitted=False and, when it has no quota (NoReservation), the
  // reason of QuotaReserved=False.
  using Why = std::pair<std::string, std::string>;
  PendingCounts pending;
  // neither admitted nor finished; empty when Options::unadmitted_observability is off
  std::map<Why, std::size_t> unadmitted;
  // Of a cluster queue only: what the pending workloads request together, by resource.
  std::map<std::string, Amount> requested;
  // Of a cluster queue only: how often workloads wanted victims that others of the same cycle had chosen already.
  struct Overlaps {
    std::uint64_t skips = 0;  // in the last round of decisions: they had victims and wait for another cycle
    // Since the engine was made, victims were searched again and others were found; none are needed once those of the
    // others leave; it does not fit.
    std::uint64_t new_targets = 0, deferred_fit = 0, skipped = 0;
  };
  Overlaps overlaps{};
  // Of a cluster queue only: the classes of pending workloads that share a verdict (Kueue: scheduling hashes). Those
  // in a back-off or on hold are in no class. Zero when Options::scheduling_equivalence_hashing is off.
  PendingCounts classes{};
};
// Totals of a cohort: its own quota and all cohorts and cluster queues below it.
struct SubtreeQuota {
  std::string flavor, resource;
  Amount quota, reserved;
};

class Rehearsal;

class Engine {
 public:
  explicit Engine(Options options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // A copy: given the same events it returns the same effects as the original, byte for byte. Costs a walk over all
  // objects; the objects themselves are shared.
  Engine copy() const;

  // Learns one event. Cheap: makes no scheduling decision and writes no workload. The next schedule() writes what
  // follows for workloads, so that several transitions of one batch become one request.
  Effects handle(Time now, const Event& event);
  // Admits and preempts until nothing more fits, then writes every workload that changed (at most one write per
  // workload is in flight; the next one follows when it has settled). Call it after a batch of events, including
  // WriteSettled and TimePassed. Before Synced it decides and writes nothing: it only records pending workloads and
  // quota holders, so that a follower can answer questions about positions and is ready to lead.
  Effects schedule(Time now);

  std::optional<ClusterQueueStatus> cluster_queue_status(std::string_view name) const;
  std::optional<LocalQueueStatus> local_queue_status(std::string_view ns, std::string_view name) const;
  std::optional<CohortStatus> cohort_status(std::string_view name) const;  // nullopt: no such Cohort object
  // Does not iterate over workloads; zeros for an unknown queue.
  PendingCounts pending_counts(std::string_view cluster_queue) const;

  // For metrics. They cost as much as there are reasons, however many workloads wait. nullopt: no such queue.
  std::optional<QueueCensus> cluster_queue_census(std::string_view name) const;
  std::optional<QueueCensus> local_queue_census(std::string_view ns, std::string_view name) const;
  // Every unfinished workload, in no particular order: a walk over all of them.
  void for_each_standing(const std::function<void(const WorkloadStanding&)>& visit) const;
  // From the queue's own cohort up to the root; empty when the queue is unknown or its cohorts form a cycle.
  std::vector<std::string> cohorts_above(std::string_view cluster_queue) const;
  // Pairs with neither quota nor usage are left out. Order: as flavors and resources became known.
  std::vector<SubtreeQuota> cohort_quotas(std::string_view cohort) const;

  // Pending workloads as of the last schedule(), from the 0-based position `offset`, at most `limit`. O(log n) each.
  // nullopt: no such queue.
  std::optional<std::vector<PendingWorkload>> pending_in_cluster_queue(std::string_view name, std::size_t offset,
                                                                       std::size_t limit) const;
  std::optional<std::vector<PendingWorkload>> pending_in_local_queue(std::string_view ns, std::string_view name,
                                                                     std::size_t offset, std::size_t limit) const;
  // Why a workload waits and the smallest changes that would give it quota now, or what it got and why. Tries changes
  // on copies of its tree of cohorts: some milliseconds per thousand workloads there. nullopt: no such workload, or it
  // has finished.
  std::optional<Explanation> explain(Time now, std::string_view ns, std::string_view workload) const;
  // The names of the nodes with this label.
  std::vector<std::string> nodes_with(const std::string& label, const std::string& value) const;
  // nullopt: it is not pending
  std::optional<PendingPosition> pending_position(std::string_view ns, std::string_view workload) const;

  // The number of flavors, resources and (flavor, resource) pairs that have an internal number: those in use plus a
  // bounded number of unused ones. schedule() renumbers when there are more. A test may call renumber() between any
  // two calls; it costs only time.
  std::size_t names_kept() const;
  void renumber();

  // Whether an engine that is made from inputs() may take the place of this one: no write is in flight, no version is
  // awaited, and nothing is decided that the API may or may not hold already. Messages about waiting workloads do not
  // count: the other engine makes them again. Iterates over all workloads.
  bool settled() const;
  // The events that bring a new engine with the same options to what this one has seen: as after a restart, but with
  // the reports of jobs and checks, and with the past usage of local queues. Meant for a settled engine. Lost are:
  // times of retries and second passes (they begin with the shortest delay), the sticky workload of a queue, messages
  // not yet written, and which finalizers and queue statuses were reported (they are reported again).
  std::vector<Event> inputs() const;

  // Who holds quota, by key. Iterates over all workloads: for tests and simulation only.
  std::vector<HeldQuota> held_quotas() const;
  // All broken invariants as sentences; empty when all hold. Costs a full recomputation: for tests and simulation.
  //  - usage equals the sum of claims, and a rebuilt ledger equals this one
  //  - no workload got places on nodes without room for them
  //  - no workload is lost: each is finished, claimed, queued, parked or held by a named condition
  //  - no parked workload would be admitted now or, while no eviction is under way, find victims
  std::vector<std::string> check_invariants(Time now) const;

 private:
  friend class Rehearsal;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::engine
