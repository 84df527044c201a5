// Decides which workloads get quota next. Owns the quota ledger, the queues of pending workloads and the passes over
// them.
//
// Pure and single-threaded: the same calls give the same decisions. The caller reports the state (configuration,
// pending workloads, quota holders), calls schedule() after a batch of changes, and writes the decisions. Admission
// is optimistic: the claim is taken when the decision is made. Quota is held until release(): an eviction alone frees
// nothing.
//
// The life of a workload here:
//   enter() -> submit() -> [Admit] -> hold() once written -> [Preempt -> hold() as evicted] -> release() ->
//   submit() ... -> leave()
// Every call may be repeated; a call that changes nothing costs little and wakes no workload.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "engine/queue/usage_book.h"
#include "engine/queue/workload.h"
#include "engine/quota/fair_share.h"
#include "engine/quota/ledger.h"
#include "engine/quota/names.h"
#include "engine/schedule/decision.h"
#include "engine/schedule/options.h"
#include "engine/topology/places.h"

namespace berth::engine {

class Probe;

// More than 40 methods: the only way in. Each kind of object that is learned has a method, and each question has one.
// The decisions are made by other classes (Pass, Nominator, Assigner, Preemption).
class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  // A copy makes the same decisions as the original would, byte for byte. Ids stay the same.
  Scheduler copy() const;
  // A copy of what decides about this workload: all workloads of its tree of cohorts, and of the trees that share nodes
  // with it. Nothing may be asked or reported about other workloads.
  Scheduler copy_around(WorkloadId workload) const;

  // --- Configuration. Wakes the workloads that it may affect.
  void set_flavor(const api::kueue::ResourceFlavor& flavor);
  void remove_flavor(std::string_view name);
  void set_cohort(const api::kueue::Cohort& cohort);
  void remove_cohort(std::string_view name);
  // `active`: the queue may admit (not stopped, not terminating, all flavors and checks exist). An inactive queue
  // keeps its workloads and evaluates none. A tree of cohorts with a cycle is inactive whatever `active` says.
  // `delayed_flavors`: flavors whose nodes an admission check creates first; the second pass assigns places on them.
  void set_cluster_queue(const api::kueue::ClusterQueue& queue, bool active,
                         const std::vector<std::string>& delayed_flavors = {});
  void remove_cluster_queue(std::string_view name);  // its pending workloads wait until it is back

  // --- Past usage of local queues (KEP-4136): see queue/usage_book.h. Without SchedulerOptions::usage this does
  // nothing.
  struct LocalQueueUsage {
    std::string local_queue, cluster_queue;  // "namespace/name", name
    Quantity::Fraction weight{1, 1};
    Time since{};  // what workloads used before does not count
    // What it had used at a time, as its status says; nullopt: as known.
    struct Past {
      std::map<std::string, Quantity> used;
      Time at{};
    };
    std::optional<Past> past;
  };
  void set_local_queue(const LocalQueueUsage& queue);
  void remove_local_queue(std::string_view local_queue);
  // The time of the calls that follow. It never goes back.
  void set_time(Time now);
  // Takes over the book of a scheduler that knows the same objects. Call it before hold(), and end_adoption() after all
  // workloads that hold quota are held: then the claims of others end.
  void adopt_usage(const Scheduler& former);
  void end_adoption();
  // The book as values, and the way back: local queues are known, workloads are not held yet. end_adoption() ends it.
  std::vector<UsageRecord> usage_records() const;
  void recall_usage(const UsageRecord& record);
  std::vector<std::string> take_usage_samples();  // the local queues whose usage must be told
  // As of the last sample; nullptr: the local queue has no account.
  const UsageBook::Sample* usage_sample(std::string_view local_queue) const;
  const UsageBook& usage() const;

  // --- Topology (KEP-2724): see topology/places.h.
  void set_topology(const api::kueue::Topology& topology);
  void remove_topology(std::string_view name);
  void set_node(const api::Node& node);
  void remove_node(std::string_view name);
  void set_pod(const api::kueue::PodPlacement& pod);
  void remove_pod(std::string_view uid);
  void set_node_devices(std::string_view node, const api::ResourceList& devices);
  void set_taken_devices(const api::kueue::PodPlacement& claim);

  // --- Workloads.
  // Returns a slot for the workload. `job_uid` may be "" (reported as UNKNOWN). `key` is "namespace/name", by which
  // pods name their workload; the UID is used when it is empty.
  WorkloadId enter(std::string_view uid, std::string_view job_uid, std::string_view key = {});
  void leave(WorkloadId workload);  // release() and withdraw(); the slot may be reused
  // The workload waits for quota, or changed while it waits. A changed workload is evaluated again; an unchanged one
  // keeps its position and its verdict. It must not hold quota (release() first). `anew`: evaluate and report again
  // even if nothing changed. A preemptor stays first in its queue while its requests do not change. Returns whether
  // the Wait that was reported last still holds; it is not reported again then.
  bool submit(WorkloadId workload, const Pending& pending, bool anew = false);
  void withdraw(WorkloadId workload);  // leaves the queue: finished, inactive, gated or deleted
  // The workload holds this quota: after a restart, after a write, or with less after pods became reclaimable. Leaves
  // the queue. An evicted holder frees nothing, but is the first candidate for preemption. When a holder is no longer
  // evicted (the write failed, or another client reverted it), preemptors choose their victims again.
  void hold(WorkloadId workload, const Holding& holding);
  void release(WorkloadId workload);  // frees its quota and wakes workloads that may use it
  // After a restart: the message of a pending workload says whom it spares (protected_words.h), and that still holds.
  // Call it when all workloads are reported, before schedule().
  void recall_protected(WorkloadId workload, std::span<const WorkloadId> protected_victims);

  // --- Decisions: admits and preempts until nothing more fits.
  Decisions schedule(Time now);
  // The second pass (KEP-2724) of a workload that holds quota: assigns places to pod sets whose topology was
  // delayed, or to the pods that were on `failed` nodes. Charges no quota; the flavors are those of the admission. On
  // success the caller writes the assignments and calls hold() with them; until then the places are not taken.
  struct SecondPass {
    WorkloadId workload;
    // as given to submit(), plus node selectors and tolerations from admission checks
    std::vector<PodSetRequest> pod_sets;
    const api::kueue::Admission* admission = nullptr;
    std::vector<std::string> failed;  // failed nodes; empty: places are delayed topology assignments
    bool preemption_gated = false;    // preemption is not allowed
  };
  struct SecondPassResult {
    // By pod set of the admission; null: unchanged. Empty: no place was found, `message` says why.
    std::vector<api::kueue::TopologyAssignmentPtr> assignments;
    std::string message;
    Decisions preemptions;          // victims whose places suffice once they are gone; never for failed nodes
    bool preemption_gated = false;  // preemption would help, but is not allowed
    bool ok() const { return !assignments.empty(); }
  };
  SecondPassResult second_pass(const SecondPass& pass, Time now);
  // Processes what got free without running a pass. A scheduler that only learns must call it, else these records
  // pile up.
  void settle() { wants_pass(); }
  // True when something happened since the last pass that another pass may act upon.
  bool wants_pass() const;
  // The end of the next back-off or wait for leaving pods, or the next sample of past usage.
  std::optional<Time> next_wake() const;

  // --- Questions.
  const Ledger& ledger() const;
  const Names& names() const;
  const Places& places() const;
  FairShare fair_share(QuotaNodeId node) const;  // the current share of a cluster queue or cohort
  bool pending(WorkloadId workload) const;       // waits in a queue, parked or not
  bool holds(WorkloadId workload) const;
  std::span<const StatedPlaces> held_places(WorkloadId workload) const;  // by pod set that has places
  bool blocked_by_pods() const;                  // block_admission, and the pods of a holder are not ready
  bool parked(WorkloadId workload) const;        // pending, and not evaluated until something it lacks changes
  bool inadmissible(WorkloadId workload) const;  // counts in inadmissible_count()
  bool evaluated() const;                        // the last schedule() looked at a workload that waits
  OverlapCounts overlap_counts(std::string_view cluster_queue) const;
  std::size_t pending_count(std::string_view cluster_queue) const;
  // The pending ones that are parked or aside; all of them while the queue may not admit. (Kueue: inadmissible; the
  // rest is active.)
  std::size_t inadmissible_count(std::string_view cluster_queue) const;
  // How many different kinds of workloads are evaluated, and how many wait for something: alike are those with the same
  // shape and priority. A kind may count in both.
  struct ClassCounts {
    std::size_t active = 0, inadmissible = 0;
  };
  ClassCounts class_counts(std::string_view cluster_queue) const;
  // How many of the pending ones can never fit (EverFits), as far as they were evaluated.
  std::size_t never_fit_count(std::string_view cluster_queue) const;
  // The same as above for the workloads that were submitted through a local queue ("namespace/name").
  std::size_t pending_count(std::string_view cluster_queue, std::string_view local_queue) const;
  std::size_t inadmissible_count(std::string_view cluster_queue, std::string_view local_queue) const;
  // The pending workloads of a cluster queue, parked ones too, in the order of evaluation: from the 0-based position
  // `offset`, at most `limit`. With a local queue ("namespace/name"): only workloads submitted through it.
  std::vector<WorkloadId> pending_page(std::string_view cluster_queue, std::size_t offset, std::size_t limit) const;
  std::vector<WorkloadId> pending_page(std::string_view cluster_queue, std::string_view local_queue, std::size_t offset,
                                       std::size_t limit) const;
  struct Position {
    std::size_t in_cluster_queue = 0, in_local_queue = 0;
  };
  std::optional<Position> pending_position(WorkloadId workload) const;  // nullopt: it is not pending
  // status.admission of a decision, and status.resourceRequests of a pending workload.
  api::kueue::Admission admission(const Admit& admit) const;
  std::vector<api::kueue::PodSetRequest> resource_requests(WorkloadId workload) const;

  // How many holders and queues the searches for victims have examined, taken out or put back: what they cost.
  std::uint64_t search_steps() const;

  // Broken invariants as sentences: the ledger against a recomputation, every workload in exactly one place, and no
  // parked workload that would be admitted now. For tests: costs a full recomputation.
  std::vector<std::string> check() const;

 private:
  friend class Probe;
  struct Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The amounts of an admission, for Holding: resourceUsage scaled to the pods that are not reclaimable (KEP-78).
std::vector<Holding::Amount> holding_amounts(const api::kueue::Admission& admission,
                                             const std::vector<api::kueue::ReclaimablePod>& reclaimable);

}  // namespace berth::engine
