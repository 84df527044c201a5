// Copies of a scheduler: what is tried on a copy changes nothing in the original.
#include <algorithm>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

SchedulerState::SchedulerState(const SchedulerState& other, const std::vector<QuotaNodeId>* roots)
    : SchedulerFacts(other),
      places(other.places, names, roots == nullptr || other.has_topology(*roots)),
      slots(
          other.slots,
          roots == nullptr
              ? std::function<bool(const Slot&)>()
              : [&](const Slot& slot) { return slot.queue.valid() && other.is_below(slot.queue, *roots); }),
      shares(ledger, names),
      preemption(
          ledger, places, shares, slots, [this](QuotaNodeId node) { return holders(node); }, options.fair_sharing),
      assigner(ledger, preemption, options.flavor_fungibility, options.fair_sharing.enabled) {
  queues.reserve(other.queues.size());
  for (const auto& queue : other.queues) {
    const bool wanted = queue != nullptr && (roots == nullptr || other.is_below(queue->node, *roots));
    queues.push_back(wanted ? std::make_unique<Queue>(*queue, slots) : nullptr);
  }
}

bool SchedulerState::is_below(QuotaNodeId node, const std::vector<QuotaNodeId>& roots) const {
  return std::ranges::find(roots, ledger.root(node)) != roots.end();
}

bool SchedulerState::has_topology(const std::vector<QuotaNodeId>& roots) const {
  return std::ranges::any_of(queues, [&](const auto& queue) {
    return queue != nullptr && !queue->topology_flavors.empty() && is_below(queue->node, roots);
  });
}

Scheduler::Impl::Impl(const Impl& other, const std::vector<QuotaNodeId>* roots)
    : state(other.state, roots),
      pass(state),
      precedence_of(other.precedence_of),
      adopted(other.adopted),
      backoffs(other.backoffs) {
  const auto here = [&](QuotaNodeId node) { return state.queue(node) != nullptr; };
  std::ranges::copy_if(other.dirty, std::back_inserter(dirty), here);
  std::ranges::copy_if(other.topology_queues, std::inserter(topology_queues, topology_queues.end()), here);
  if (roots == nullptr) return;
  std::erase_if(backoffs, [&](const auto& each) { return !state.slots.known(each.second); });
  std::erase_if(state.waits_for_leaving_pods, [&](const auto& each) { return !here(each.second); });
}

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler Scheduler::copy() const { return Scheduler(std::make_unique<Impl>(*impl_, nullptr)); }

Scheduler Scheduler::copy_around(WorkloadId workload) const {
  const SchedulerState& state = impl_->state;
  const QuotaNodeId queue = state.slots.known(workload) ? state.slots[workload].queue : QuotaNodeId();
  const QuotaNodeId root = queue.valid() ? state.ledger.root(queue) : QuotaNodeId();
  std::vector<QuotaNodeId> roots = impl_->trees_with_topology();
  if (!root.valid() || std::ranges::find(roots, root) == roots.end()) roots = {root};
  return Scheduler(std::make_unique<Impl>(*impl_, &roots));
}

}  // namespace berth::engine
