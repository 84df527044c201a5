// The configuration: flavors, cohorts and cluster queues.
#include <algorithm>
#include <utility>

#include "engine/schedule/scheduler_impl.h"

namespace berth::engine {

Queue& Scheduler::Impl::queue_of(std::string_view name) {
  QuotaNodeId node = state.ledger.cluster_queue_node(name);
  if (state.queues.size() <= node.index()) state.queues.resize(node.index() + 1);
  auto& queue = state.queues[node.index()];
  if (queue == nullptr) {
    queue = std::make_unique<Queue>(state.slots, state.options.equivalence_hashing, node);
    state.ledger.pin(node);
  }
  return *queue;
}

void Scheduler::Impl::drop_if_unused(Queue& queue) {
  if (queue.configured || queue.pending.size() > 0 || !queue.holders.empty()) return;
  QuotaNodeId node = queue.node;
  std::erase(dirty, node);
  topology_queues.erase(node);
  state.queues[node.index()].reset();
  state.ledger.unpin(node);
}

void Scheduler::Impl::reconfigured(Queue& queue) {
  queue.generation = ++state.counter;
  queue.topology_flavors.clear();
  for (const ResourceGroup& group : queue.config.groups) {
    for (FlavorId flavor : group.flavors) {
      if (state.places.places_pods(flavor)) queue.topology_flavors.push_back(flavor);
    }
  }
  if (queue.topology_flavors.empty()) {
    topology_queues.erase(queue.node);
  } else {
    topology_queues.insert(queue.node);
  }
  wake_queue(queue);
}

void Scheduler::Impl::flavors_changed(FlavorId flavor) {
  for (auto& queue : state.queues) {
    if (queue == nullptr) continue;
    bool uses = std::any_of(queue->config.groups.begin(), queue->config.groups.end(), [&](const ResourceGroup& group) {
      return std::find(group.flavors.begin(), group.flavors.end(), flavor) != group.flavors.end();
    });
    if (uses) reconfigured(*queue);
  }
}

void Scheduler::set_flavor(const api::kueue::ResourceFlavor& flavor) {
  FlavorId id = impl_->state.names.flavor(flavor.meta.name);
  const bool places_changed = impl_->state.places.set_flavor(id, flavor);
  if (impl_->state.flavors.set(id, flavor) || places_changed) impl_->flavors_changed(id);
}

void Scheduler::remove_flavor(std::string_view name) {
  FlavorId id = impl_->state.names.find_flavor(name);
  if (!id.valid()) return;
  const bool places_changed = impl_->state.places.remove_flavor(id);
  if (impl_->state.flavors.remove(id) || places_changed) impl_->flavors_changed(id);
}

void Scheduler::set_cohort(const api::kueue::Cohort& cohort) {
  SchedulerState& state = impl_->state;
  auto quotas = compile_quotas(cohort.resource_groups, state.names);
  QuotaNodeId node = state.ledger.find_cohort(cohort.meta.name);
  if (!node.valid() || !state.ledger.same_configuration(node, cohort.parent_name, quotas, cohort.unbounded))
    node = state.ledger.set_cohort(cohort.meta.name, cohort.parent_name, quotas, cohort.unbounded);
  state.ledger.set_weight(node, cohort.fair_weight.fraction());
}

void Scheduler::remove_cohort(std::string_view name) { impl_->state.ledger.remove_cohort(name); }

void Scheduler::set_cluster_queue(const api::kueue::ClusterQueue& object, bool active,
                                  const std::vector<std::string>& delayed_flavors) {
  SchedulerState& state = impl_->state;
  Queue& queue = impl_->queue_of(object.meta.name);
  auto quotas = compile_quotas(object.resource_groups, state.names);
  QueueConfig config = compile_queue(object, delayed_flavors, state.names);
  bool rules_changed = !queue.configured || queue.config != config;
  if (rules_changed || !state.ledger.same_configuration(queue.node, object.cohort_name, quotas)) {
    state.ledger.set_cluster_queue(object.meta.name, object.cohort_name, quotas);
  }
  state.ledger.set_weight(queue.node, object.fair_weight.fraction());
  bool woken = rules_changed || (active && !queue.active);
  queue.config = std::move(config);
  queue.holders.reclaimable = queue.config.terms.reclaimable;
  queue.holders.queue_priority = queue.config.terms.priority;
  state.reclaims = state.reclaims || queue.config.reclaims();
  state.reclaims_over_levels =
      state.reclaims_over_levels || (queue.config.reclaims() && queue.config.terms.reclaim_levels);
  queue.configured = true;
  const bool changed = std::exchange(queue.active, active) != active;
  // What a stopped queue holds runs to its end. A queue of Volcano (its resources have a flavor of the rest) is closed,
  // which stops admission and protects nothing.
  queue.holders.exempt = !active && queue.config.terms.flavor_of_the_rest.empty();
  queue.holders.by_usage = queue.config.by_usage && state.book.on();
  queue.pending.order_by_usage(queue.holders.by_usage);
  if (woken) impl_->reconfigured(queue);
  if (changed) impl_->activity_changed(queue);
}

// What its holders are safe from begins or ends, and so does what its head reserves.
void Scheduler::Impl::activity_changed(Queue& queue) {
  if (!queue.holders.empty()) forget_precedence(queue.node);
  if (queue.active && !queue.holders.empty()) wake_tree(queue);
  mark(queue);
}

void Scheduler::remove_cluster_queue(std::string_view name) {
  Queue* queue = impl_->find(name);
  if (queue == nullptr || !queue->configured) return;
  queue->configured = queue->active = false;
  queue->config = QueueConfig();
  queue->pending.order_by_usage(false);
  queue->holders.exempt = false;
  queue->holders.reclaimable = true;
  queue->holders.queue_priority = 0;
  queue->holders.by_usage = false;
  impl_->reconfigured(*queue);
  impl_->state.ledger.remove_cluster_queue(name);
  impl_->drop_if_unused(*queue);
}

}  // namespace berth::engine
