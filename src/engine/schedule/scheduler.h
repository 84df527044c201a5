// Who gets quota next. Owns the quota ledger, the queues of pending workloads and the passes over them.
//
// Pure and single-threaded: the same calls give the same decisions. The caller says what is (configuration,
// pending workloads, holders), calls schedule() after a batch of changes and writes what it decides.
// Admission is optimistic: the claim is taken when it is decided. Quota is held until release(): an eviction
// alone frees nothing.
//
// The life of a workload here:
//   enter() -> submit() -> [Admit] -> hold() once written -> [Preempt -> hold() as evicted] -> release() ->
//   submit() ... -> leave()
// Every call may be repeated; what did not change costs nothing and wakes nobody.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "engine/quota/fair_share.h"
#include "engine/quota/ledger.h"
#include "engine/quota/names.h"
#include "engine/schedule/decision.h"
#include "engine/schedule/options.h"
#include "engine/schedule/workload.h"
#include "engine/topology/places.h"

namespace berth::engine {

class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  // --- Configuration. Wakes what it may concern.
  void set_flavor(const api::kueue::ResourceFlavor& flavor);
  void remove_flavor(std::string_view name);
  void set_cohort(const api::kueue::Cohort& cohort);
  void remove_cohort(std::string_view name);
  // `active`: may admit (not stopped, not terminating, all flavors and checks there). An inactive queue keeps
  // its workloads and evaluates none of them. A tree of cohorts with a cycle is inactive whatever `active`
  // says.
  // `delayed_flavors`: those whose nodes a check makes first; places on them are given by the second pass.
  void set_cluster_queue(const api::kueue::ClusterQueue& queue, bool active,
                         const std::vector<std::string>& delayed_flavors = {});
  void remove_cluster_queue(std::string_view name);  // its pending workloads wait for it to come back

  // The machine room (KEP-2724): see topology/places.h.
  void set_topology(const api::kueue::Topology& topology);
  void remove_topology(std::string_view name);
  void set_node(const api::Node& node);
  void remove_node(std::string_view name);
  void set_pod(const api::PodPlacement& pod);
  void remove_pod(std::string_view uid);

  // --- Workloads.
  // A slot. `job_uid` may be "" (told as UNKNOWN); `key` is "namespace/name", by which pods name their
  // workload; without one the UID stands for it.
  WorkloadId enter(std::string_view uid, std::string_view job_uid, std::string_view key = {});
  void leave(WorkloadId workload);             // release() and withdraw(); the slot may be reused
  // Waits for quota from now on, or changed while it waits. A changed workload is evaluated anew, an
  // unchanged one keeps its place and its verdict. Not allowed while it holds quota (release() first).
  // `anew`: evaluated and told again even if it did not change. Whoever others made way for stays the first
  // in its queue while it asks for the same.
  void submit(WorkloadId workload, const Pending& pending, bool anew = false);
  void withdraw(WorkloadId workload);  // leaves the queue: finished, inactive, gated, deleted
  // Holds this quota: after a restart, after another's write, or with less after pods became reclaimable.
  // Leaves the queue. An evicted holder frees nothing, but it is the first candidate. When a holder is no longer evicted (the write
  // failed, somebody took it back), preemptors choose their victims again.
  void hold(WorkloadId workload, const Holding& holding);
  void release(WorkloadId workload);  // the quota is free again and who may profit is woken

  // --- Decisions: admits and preempts until nothing more fits.
  Decisions schedule(Time now);
  // The second pass (kueue.md 3.8) of a workload that holds quota: places for pod sets whose topology was delayed, or for the pods
  // that were on `failed` nodes. Charges no quota. The flavors are those of the admission. With success the caller writes the
  // assignments and calls hold() with them; until then the places are not taken.
  struct SecondPass {
    WorkloadId workload;
    std::vector<PodSetRequest> pod_sets;  // as submit() had them, with the node selectors and tolerations that checks added
    const api::kueue::Admission* admission = nullptr;
    std::vector<std::string> failed;  // nodes; empty: places that were delayed
    bool preemption_gated = false;    // nobody has to give way
  };
  struct SecondPassResult {
    // By pod set of the admission; null: unchanged. Empty: no place, `message` says why.
    std::vector<api::kueue::TopologyAssignmentPtr> assignments;
    std::string message;
    Decisions preemptions;  // whose places will do once they are gone; never for failed nodes
    bool preemption_gated = false;  // others would have to give way, and may not be asked to
    bool ok() const { return !assignments.empty(); }
  };
  SecondPassResult second_pass(const SecondPass& pass, Time now);
  // Takes in what got freer without a pass: a scheduler that only learns would otherwise remember all of it.
  void settle() { wants_pass(); }
  // Something happened since the last pass that another one may act upon.
  bool wants_pass() const;
  std::optional<Time> next_wake() const;  // when a back-off, or the patience with leaving pods, ends next

  // --- Questions.
  const Ledger& ledger() const;
  const Names& names() const;
  const Places& places() const;
  FairShare fair_share(NodeId node) const;  // of a cluster queue or cohort, as it is
  bool pending(WorkloadId workload) const;  // waits in a queue, parked or not
  bool holds(WorkloadId workload) const;
  std::span<const StatedPlaces> held_places(WorkloadId workload) const;  // by pod set that has some
  bool parked(
      WorkloadId workload) const;  // pending, and not to be evaluated until something it lacks changes
  bool inadmissible(WorkloadId workload) const;  // of the pending ones: counted in inadmissible_count()
  std::size_t pending_count(std::string_view cluster_queue) const;
  // Of them, who sleeps until something changes, and all while the queue may not admit (Kueue: inadmissible; the rest is active).
  std::size_t inadmissible_count(std::string_view cluster_queue) const;
  // Who waits in a cluster queue, parked ones too, in the order in which they would be evaluated: from the 0-based position
  // `offset` on, at most `limit`. With a local queue ("namespace/name"): those that were submitted through it.
  std::vector<WorkloadId> pending_page(std::string_view cluster_queue, std::size_t offset, std::size_t limit) const;
  std::vector<WorkloadId> pending_page(std::string_view cluster_queue, std::string_view local_queue, std::size_t offset,
                                       std::size_t limit) const;
  struct Position {
    std::size_t in_cluster_queue = 0, in_local_queue = 0;
  };
  std::optional<Position> pending_position(WorkloadId workload) const;  // none: it does not wait
  // status.admission of a decision, and status.resourceRequests of a pending workload.
  api::kueue::Admission admission(const Admit& admit) const;
  std::vector<api::kueue::PodSetRequest> resource_requests(WorkloadId workload) const;

  // Broken invariants as sentences: the ledger against a recomputation, every workload in exactly one place,
  // and no parked workload that would be admitted by the present state. For tests: costs a full
  // recomputation.
  std::vector<std::string> check() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The amounts of an admission, for Holding: resourceUsage scaled to the pods that are not reclaimable
// (KEP-78).
std::vector<Holding::Amount> holding_amounts(const api::kueue::Admission& admission,
                                             const std::vector<api::kueue::ReclaimablePod>& reclaimable);

}  // namespace berth::engine
