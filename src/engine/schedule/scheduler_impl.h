// The scheduler's implementation: its state, and how events change it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/schedule/pass.h"
#include "engine/schedule/scheduler.h"

namespace berth::engine {

struct Scheduler::Impl {
  explicit Impl(SchedulerOptions o) : state(o), pass(state) {}
  Impl(const Impl& other, const std::vector<QuotaNodeId>* roots);  // see SchedulerState

  Queue& queue_of(std::string_view name);
  void drop_if_unused(Queue& queue);
  void mark(Queue& queue);
  void wake_queue(Queue& queue);
  void wake_tree(Queue& queue);
  void reconfigured(Queue& queue);
  void activity_changed(Queue& queue);
  void flavors_changed(FlavorId flavor);
  void topology_changed(std::string_view name);
  void absorb_reliefs();
  void absorb_borrowings();
  void tighten(QuotaNodeId node, FlavorResourceId id);
  void absorb_taken();
  void relieve_nodes(FlavorId flavor);
  void hold_places(WorkloadId workload, const Holding& holding);
  std::vector<QuotaNodeId> trees_with_topology() const;
  void run_pass(std::span<const QuotaNodeId> roots, Time now, Decisions& out);
  void relieve(QuotaNodeId node, FlavorResourceId id);
  void tempt(QuotaNodeId node, const Borrowing& borrowing);
  void leave_queue(WorkloadId workload);
  void leave_claim(WorkloadId workload);
  void place(WorkloadId workload);
  void push(WorkloadId workload);
  // A tree changed otherwise than by preemption: workloads there may preempt those that preempted them.
  void forget_precedence(QuotaNodeId queue);
  void forget_precedence_if_configured();  // of all trees, when quotas, parents or policies have changed
  void wake_protected(const std::vector<WorkloadId>& workloads);
  bool submitted_through(const Slot& slot, std::string_view local_queue) const;
  void submit_through(Slot& slot, std::string_view local_queue);
  // when the last one becomes ready, workloads that waited for it may go on
  void set_pods_ready(Slot& holder, bool ready);
  void end_backoffs(Time now);
  std::vector<std::pair<std::string, UseId>> uses() const;
  void rank_again();                          // at a sample of past usage, which may change the order of local queues
  void end_waits_for_leaving_pods(Time now);  // re-evaluates queues whose wait for leaving pods has ended
  std::vector<std::string> check_awake(bool evicting);
  Queue* find(std::string_view name) const { return state.queue(state.ledger.find_cluster_queue(name)); }

  SchedulerState state;
  Pass pass;
  std::vector<QuotaNodeId> dirty;         // queues in which a workload may have become admissible
  std::uint64_t precedence_of = 0;        // the ledger's configuration() to which the history of preemptions belongs
  std::set<QuotaNodeId> topology_queues;  // queues that have flavors with a topology
  std::map<std::string, UseId, std::less<>> adopted;  // by UID of a workload that is not held yet
  std::set<std::pair<Time, WorkloadId>> backoffs;     // ends of back-offs of workloads that are aside
};

}  // namespace berth::engine
