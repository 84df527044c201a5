// The decisions, pure: events in, effects out. No thread, no clock, no socket, no log, no random number, no global.
// The same options and the same events give the same effects, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/config/policies.h"
#include "api/core/node.h"
#include "api/core/pod_placement.h"
#include "api/kueue/job_report.h"
#include "api/kueue/types.h"
#include "base/json.h"
#include "base/time.h"
#include "engine/topology/options.h"

namespace berth::engine {

template <typename T>
using Ptr = std::shared_ptr<const T>;

// --- Events: what the shell saw. "Seen" means created or changed: the engine compares with what it knows. ---

struct ClusterQueueSeen { Ptr<api::kueue::ClusterQueue> object; };
struct ClusterQueueGone { std::string name; };
struct CohortSeen { Ptr<api::kueue::Cohort> object; };
struct CohortGone { std::string name; };
struct LocalQueueSeen { Ptr<api::kueue::LocalQueue> object; };
struct LocalQueueGone { std::string ns, name; };
struct ResourceFlavorSeen { Ptr<api::kueue::ResourceFlavor> object; };
struct ResourceFlavorGone { std::string name; };
struct AdmissionCheckSeen { Ptr<api::kueue::AdmissionCheck> object; };
struct AdmissionCheckGone { std::string name; };
struct NamespaceSeen { std::string name; api::StringMap labels; };
struct NamespaceGone { std::string name; };
struct LimitRangeSeen { std::string ns, name; std::vector<api::LimitRangeItem> items; };
struct LimitRangeGone { std::string ns, name; };
struct RuntimeClassSeen { std::string name; JsonPtr overhead; };  // overhead.podFixed as an object of quantities, or null
struct RuntimeClassGone { std::string name; };
struct TopologySeen { Ptr<api::kueue::Topology> object; };
struct TopologyGone { std::string name; };
struct NodeSeen { Ptr<api::Node> object; };
struct NodeGone { std::string name; };
// A pod that holds a node or was let go to one (PodPlacement::holds_node), whoever it belongs to.
struct PodSeen { Ptr<api::PodPlacement> object; };
struct PodGone { std::string uid; };  // deleted, or terminated
struct WorkloadSeen { Ptr<api::kueue::Workload> object; };
struct WorkloadGone { std::string ns, name, uid; };
// What the job of a workload says about it. The engine is the only writer of a workload's status: what a job knows
// (finished, pods ready, reclaimable pods, stopped after an eviction) reaches the status through this event. The latest report
// of a workload counts; telling the same again costs nothing.
struct JobReported {
  std::string ns, name;  // of the workload
  api::kueue::JobReport report;
};
// What Berth's own admission check controllers found out about a workload that reserves quota. Controllers of others write the
// status themselves. A report about a check that the workload does not list, or that has been reset since (another retryCount), is dropped.
struct CheckReported {
  std::string ns, name;  // of the workload
  api::kueue::AdmissionCheckState state;  // last_transition is set by the engine
};
// How a write that the engine asked for ended. kConflict: the object changed meanwhile (its new version arrives as
// WorkloadSeen); kGone: it does not exist any more; kFailed: refused or its outcome unknown; kDone carries the new version.
struct WriteSettled {
  enum class Outcome : std::uint8_t { kDone, kConflict, kGone, kFailed };
  std::uint64_t write = 0;
  Outcome outcome = Outcome::kDone;
  std::string resource_version;
  std::string message;
};
struct TimePassed {};  // a wake-up: only `now` matters
struct Synced {};      // the shell's caches hold everything: decisions may begin. Before it the engine only learns.

using Event = std::variant<ClusterQueueSeen, ClusterQueueGone, CohortSeen, CohortGone, LocalQueueSeen, LocalQueueGone,
                           ResourceFlavorSeen, ResourceFlavorGone, AdmissionCheckSeen, AdmissionCheckGone, NamespaceSeen,
                           NamespaceGone, LimitRangeSeen, LimitRangeGone, RuntimeClassSeen, RuntimeClassGone, TopologySeen,
                           TopologyGone, NodeSeen, NodeGone, PodSeen, PodGone, WorkloadSeen, WorkloadGone, JobReported, CheckReported, WriteSettled, TimePassed, Synced>;

// --- Effects: what the shell shall do, in this order. ---

// Writes the workload's status as it shall be after the transition: one request, with uid and resourceVersion as
// preconditions. The shell sends only what differs from `base` (the status the decision was made on).
struct WriteWorkloadStatus {
  std::uint64_t write = 0;  // answered by WriteSettled
  Ptr<api::kueue::Workload> base;
  api::kueue::WorkloadStatus status;
};
// Sets spec.active=false on a workload that carries a DeactivationTarget condition.
struct DeactivateWorkload {
  std::uint64_t write = 0;
  Ptr<api::kueue::Workload> base;
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
};
// The status of this queue may differ from what the API holds: ask cluster_queue_status() or local_queue_status() when
// it is convenient (the shell coalesces) and write what differs. So with cohort_status(): only with fair sharing there is anything to tell.
struct ClusterQueueStatusChanged { std::string name; };
struct LocalQueueStatusChanged { std::string ns, name; };
struct CohortStatusChanged { std::string name; };
// The finalizer kueue.x-k8s.io/resource-in-use shall be on the object, or not any more.
struct SetFinalizer {
  std::string kind;  // ClusterQueue, ResourceFlavor, AdmissionCheck, Topology
  std::string name;
  bool present = true;
};
// Deletes a workload whose time is over (Configuration: objectRetentionPolicies); `with_job`: the job that controls it, and the
// workload goes with it. Preconditions: the uids. Nothing settles it; it is asked for again while the workload is there.
struct ExpireWorkload {
  Ptr<api::kueue::Workload> workload;
  bool with_job = false;
};
struct WakeAt { Time when; };  // deliver TimePassed then; a later WakeAt replaces an earlier one

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
  bool fair_preempt_within_nominal = true;    // FairSharingPreemptWithinNominal: who stays within nominal takes back from any borrower
  bool fair_prioritize_non_borrowing = true;  // FairSharingPrioritizeNonBorrowing: who borrows nothing of what it asks for comes first
  bool preemption_gates =
      false;  // MultiKueueOrchestratedPreemption: a workload with a closed preemption gate preempts nobody
  bool priority_boost = false;  // PriorityBoost: an annotation adds to the priority of its workload
  // PrioritizePreemptorWorkloads: what victims give back stays reserved for their preemptor until all of them
  // are gone, whatever the strategy of its queue.
  bool prioritize_preemptors = false;
  // RecomputeAssignmentUponPreemptionTargetsOverlap: a workload whose victims are also those of another one
  // is looked at again as if they were gone. Off: it waits for the next cycle.
  bool recompute_on_overlap = true;
  // Why a workload is not admitted. UnadmittedWorkloadsObservability: reasons for each cause (off: Pending,
  // Inadmissible, Waiting, and Admitted=False only for what was admitted before).
  // UnadmittedWorkloadsExplicitStatus: also for a workload that is not evaluated, because an equal one was.
  bool unadmitted_observability = true;
  bool unadmitted_explicit_status = true;
  TopologyOptions topology;
  api::config::TopologyWaits topology_waits;
  // Failed nodes (kueue.md 4.9).
  bool replace_failed_nodes = true;        // TASFailedNodeReplacement
  bool replace_fail_fast = true;           // TASFailedNodeReplacementFailFast: no place, no second try: evict
  bool replace_on_pod_termination = true;  // TASReplaceNodeOnPodTermination; off: after 30 s of NotReady
  bool replace_on_taints = true;           // TASReplaceNodeOnNodeTaints
  // Berth's own: several failed nodes of one workload are replaced in one joint placement. Off: the second one evicts, as in Kueue.
  bool replace_several_nodes = true;
};

struct FlavorUsageStatus {
  std::string flavor;
  struct Resource {
    std::string name;
    Amount total, borrowed;
  };
  std::vector<Resource> resources;
};
// How much a node borrows of what its cohort can lend, by weight (KEP-1714); with fair sharing on.
struct FairShareStatus {
  std::int64_t weighted_share = 0;  // in thousandths, rounded up; the largest number when infinite
  // The same exactly: borrowed / lendable / weight, of the dominant resource. Metrics tell it in floating point.
  std::int64_t borrowed = 0, lendable = 1;
  Quantity::Fraction weight{1, 1};
  bool infinite = false;            // weight 0, and it borrows
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
// A workload that waits for quota, and where (kueue.md 1.11). Positions are 0-based and follow the order of evaluation: sticky
// workload, higher priority, older queue-order timestamp, UID; asleep or not. The positions of one local queue are those among the
// workloads that were submitted through it.
struct PendingWorkload {
  Ptr<api::kueue::Workload> object;  // as the API holds it
  std::size_t position_in_cluster_queue = 0, position_in_local_queue = 0;
};
struct PendingPosition {
  std::string cluster_queue;
  std::size_t in_cluster_queue = 0, in_local_queue = 0;
};
struct LocalQueueStatus {
  bool active = false;
  std::string reason, message;
  std::vector<FlavorUsageStatus> reservation, usage;
  std::int32_t pending = 0, reserving = 0, admitted = 0;
};

// What one workload holds, as decided so far.
struct HeldQuota {
  const api::kueue::Workload* workload = nullptr;  // with its status as decided; until the next event or schedule()
  std::string cluster_queue;
  std::map<std::string, Amount> amounts;  // by resource, of all flavors
};

// How many workloads wait in a cluster queue: for their turn, and for something to change first (parked, in back-off, on hold; all
// while the queue may not admit).
struct PendingCounts {
  std::size_t active = 0, inadmissible = 0;
};

// The workloads of a queue that are not admitted, as decided so far.
struct QueueCensus {
  // Why one is not admitted: the reason of Admitted=False and, when quota is lacking (NoReservation), that of QuotaReserved=False.
  using Why = std::pair<std::string, std::string>;
  PendingCounts pending;
  std::map<Why, std::size_t> unadmitted;  // nor finished; empty when Options::unadmitted_observability is off
};
// Of all cluster queues and cohorts below a cohort, and its own.
struct SubtreeQuota {
  std::string flavor, resource;
  Amount quota, reserved;
};

class Engine {
 public:
  explicit Engine(Options options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // Learns of one event. Cheap; takes no scheduling decision and writes no workload: what follows for workloads is written
  // by the next schedule(), so that several transitions of one batch are one request.
  Effects handle(Time now, const Event& event);
  // Admits and preempts until nothing more fits, then writes every workload that changed (at most one write per workload is
  // under way; the next follows when it has settled). Called after a batch of events, WriteSettled and TimePassed among them.
  // Before Synced it decides and writes nothing; it only files who waits and who holds quota, so that a follower can tell
  // positions and is ready to lead.
  Effects schedule(Time now);

  std::optional<ClusterQueueStatus> cluster_queue_status(std::string_view name) const;
  std::optional<LocalQueueStatus> local_queue_status(std::string_view ns, std::string_view name) const;
  std::optional<CohortStatus> cohort_status(std::string_view name) const;  // none: no such object
  // Without looking at the workloads one by one; zeros for a queue that is not known.
  PendingCounts pending_counts(std::string_view cluster_queue) const;

  // These walk over the workloads of the queue: for metrics, now and then. None: no such queue.
  std::optional<QueueCensus> cluster_queue_census(std::string_view name) const;
  std::optional<QueueCensus> local_queue_census(std::string_view ns, std::string_view name) const;
  // From the queue's own cohort up to the root; none above a cycle.
  std::vector<std::string> cohorts_above(std::string_view cluster_queue) const;
  // What is neither there nor used is left out. In the order in which flavors and resources became known.
  std::vector<SubtreeQuota> cohort_quotas(std::string_view cohort) const;

  // Who waits, as of the last schedule(): from the position `offset` on, at most `limit`. O(log n) for each. None: no such queue.
  std::optional<std::vector<PendingWorkload>> pending_in_cluster_queue(std::string_view name, std::size_t offset,
                                                                       std::size_t limit) const;
  std::optional<std::vector<PendingWorkload>> pending_in_local_queue(std::string_view ns, std::string_view name,
                                                                     std::size_t offset, std::size_t limit) const;
  std::optional<PendingPosition> pending_position(std::string_view ns, std::string_view workload) const;  // none: it does not wait

  // Flavors, resources and pairs of them that have a number inside: those that are there, and a bounded number of others. schedule()
  // renumbers when there are more; a test may before any of its calls. Nothing but time is lost by it.
  std::size_t names_kept() const;
  void renumber();

  // Who holds quota, by key. Walks over all workloads: tests and simulation only.
  std::vector<HeldQuota> held_quotas() const;
  // Every broken invariant, as sentences; empty when all hold. Costs a full recomputation: tests and simulation only.
  //  usage equals the sum of claims; a rebuilt ledger equals this one; no quota exceeded by admission; no workload lost
  //  (each is finished, claimed, queued, parked or held by a named condition); no parked workload would be admitted now.
  std::vector<std::string> check_invariants(Time now) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::engine
