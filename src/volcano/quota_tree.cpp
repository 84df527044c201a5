#include "volcano/quota_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/volcano/names.h"

namespace berth::volcano {

using api::kueue::ClusterQueue;
using api::kueue::Cohort;
using api::volcano::DequeueStrategy;
using api::volcano::QueueState;

namespace {

bool takes_work(const QueueNode& node) {
  if (node.object == nullptr) return false;
  const QueueState state = node.object->status.state;
  return state == QueueState::kOpen || state == QueueState::kNone;
}

engine::Event local_queue_of(const std::string& queue) {
  auto local = std::make_shared<api::kueue::LocalQueue>();
  local->meta.name = queue;
  local->meta.ns = kGroupNamespace;
  local->cluster_queue = node_name(queue);
  return engine::LocalQueueSeen{std::move(local)};
}

std::optional<Amount> named(const Amounts& amounts, std::string_view resource) {
  const auto it = amounts.find(resource);
  return it == amounts.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

std::string node_name(std::string_view queue) { return std::string(kNodePrefix) + std::string(queue); }

std::string_view queue_of_node(std::string_view node_name) {
  return node_name.starts_with(kNodePrefix) ? node_name.substr(kNodePrefix.size()) : std::string_view();
}

QuotaTree::QuotaTree(TreeOptions options) : options_(std::move(options)) {}

QuotaTree::Events QuotaTree::start() {
  Events out;
  auto flavor = std::make_shared<api::kueue::ResourceFlavor>();
  flavor->meta.name = options_.flavor;
  out.push_back(engine::ResourceFlavorSeen{std::move(flavor)});
  bring_up_to_date(forest_.root(), out);
  return out;
}

QuotaTree::Events QuotaTree::set(QueuePtr queue) {
  const std::string name = queue->meta.name;
  const QueueNode* before = forest_.find(name);
  const std::string former_parent =
      before != nullptr && before->parent != nullptr ? before->parent->name : std::string();
  forest_.set(std::move(queue));
  const QueueNode& node = *forest_.find(name);

  std::set<const QueueNode*> changed{&node};
  if (node.parent != nullptr) changed.insert(node.parent);
  if (const QueueNode* former = forest_.find(former_parent)) changed.insert(former);
  look_at_holds(node, changed);
  Events out;
  std::set<std::string_view> by_name;
  for (const QueueNode* each : changed) by_name.insert(each->name);
  for (const std::string_view each : by_name) bring_up_to_date(*forest_.find(each), out);
  return out;
}

QuotaTree::Events QuotaTree::remove(std::string_view name) {
  Events out;
  const QueueNode* before = forest_.find(name);
  if (before == nullptr || before->object == nullptr) return out;
  const std::string gone(name), former_parent = before->parent == nullptr ? std::string() : before->parent->name;
  forest_.remove(gone);
  holds_.erase(gone);
  std::set<const QueueNode*> changed;
  if (const QueueNode* former = forest_.find(former_parent)) changed.insert(former);
  if (const QueueNode* node = forest_.find(gone)) {  // other queues name it, or it is root
    changed.insert(node);
    for (const auto& [child_name, child] : node->children) look_at_holds(*child, changed);
  } else {
    report_gone(gone, out);
  }
  std::set<std::string_view> by_name;
  for (const QueueNode* each : changed) by_name.insert(each->name);
  for (const std::string_view each : by_name) bring_up_to_date(*forest_.find(each), out);
  return out;
}

QuotaTree::Hold QuotaTree::hold_of(const QueueNode& node) const {
  if (forest_.way_up(node).end != QueueForest::Way::End::kRoot) return Hold::kBroken;
  for (const QueueNode* at = &node; !at->is_root(); at = at->parent)
    if (!takes_work(*at)) return Hold::kNotOpen;
  return Hold::kNone;
}

// When a queue is held or released, the queues below it change as well.
void QuotaTree::look_at_holds(const QueueNode& top, std::set<const QueueNode*>& changed) {
  std::vector<const QueueNode*> open{&top};
  std::set<const QueueNode*> seen{&top};
  while (!open.empty()) {
    const QueueNode* node = open.back();
    open.pop_back();
    const Hold now = hold_of(*node);
    const auto [known, is_new] = holds_.try_emplace(node->name, now);
    if (!is_new && known->second == now) continue;
    known->second = now;
    changed.insert(node);
    for (const auto& [name, child] : node->children)
      if (seen.insert(child).second) open.push_back(child);
  }
}

QuotaTree::Quotas QuotaTree::quotas_of(const QueueNode& node) const {
  Quotas out;
  const bool is_leaf = node.children.empty();
  const auto add = [&](const std::string& resource) {
    const std::optional<Amount> capability = named(node.capability, resource);
    if (node.is_root()) {
      if (capability) out[resource].nominal = *capability - amount_of(node.children_deserved, resource);
      return;
    }
    const Amount deserved = amount_of(node.deserved, resource), guarantee = amount_of(node.guarantee, resource);
    Limits& limits = out[resource];
    limits.nominal = is_leaf ? deserved : deserved - amount_of(node.children_deserved, resource);
    if (capability) limits.borrowing = max(Amount(), *capability - deserved);
    if (!guarantee.is_zero()) limits.lending = deserved - guarantee;
  };
  for (const Amounts* amounts : {&node.capability, &node.deserved, &node.children_deserved})
    for (const auto& [resource, amount] : *amounts) add(resource);
  return out;
}

QuotaTree::Compiled QuotaTree::compile(const QueueNode& node) const {
  Compiled out;
  out.parent = node.is_root() || !node.children.empty();
  out.above = node.parent == nullptr ? std::string() : node_name(node.parent->name);
  out.quotas = quotas_of(node);
  const auto hold = holds_.find(node.name);
  out.held = hold != holds_.end() && hold->second != Hold::kNone;
  if (node.object == nullptr) return out;
  out.fifo = node.object->dequeue_strategy == DequeueStrategy::kFifo;
  out.reclaimable = node.object->reclaimable;
  out.priority = node.object->priority;
  out.weight = node.object->weight;
  return out;
}

void QuotaTree::bring_up_to_date(const QueueNode& node, Events& out) {
  if (!node.exists()) return report_gone(node.name, out);
  Compiled now = compile(node);
  const auto known = reported_.find(node.name);
  if (known != reported_.end() && known->second == now) return;
  const bool was_parent = known != reported_.end() && known->second.parent;
  if (known == reported_.end()) out.push_back(local_queue_of(node.name));
  if (now.parent) out.push_back(cohort_of(node, now));
  out.push_back(cluster_queue_of(node, now));
  if (was_parent && !now.parent) out.push_back(engine::CohortGone{node_name(node.name)});
  reported_.insert_or_assign(node.name, std::move(now));
}

void QuotaTree::report_gone(const std::string& name, Events& out) {
  const auto known = reported_.find(name);
  if (known == reported_.end()) return;
  out.push_back(engine::LocalQueueGone{std::string(kGroupNamespace), name});
  out.push_back(engine::ClusterQueueGone{node_name(name)});
  if (known->second.parent) out.push_back(engine::CohortGone{node_name(name)});
  reported_.erase(known);
}

std::vector<api::kueue::ResourceGroup> QuotaTree::groups_of(const Quotas& quotas) const {
  if (quotas.empty()) return {};
  api::kueue::ResourceGroup group;
  api::kueue::FlavorQuotas flavor{options_.flavor, {}};
  for (const auto& [resource, limits] : quotas) {
    group.covered_resources.push_back(resource);
    const auto quantity = [&](const std::optional<Amount>& amount) {
      return amount ? std::optional(to_quantity(resource, *amount)) : std::nullopt;
    };
    flavor.resources.push_back(
        {resource, to_quantity(resource, limits.nominal), quantity(limits.borrowing), quantity(limits.lending)});
  }
  group.flavors.push_back(std::move(flavor));
  return {std::move(group)};
}

engine::Event QuotaTree::cohort_of(const QueueNode& node, const Compiled& compiled) const {
  auto cohort = std::make_shared<Cohort>();
  cohort->meta.name = node_name(node.name);
  cohort->parent_name = compiled.above;
  cohort->resource_groups = groups_of(compiled.quotas);
  cohort->unbounded = node.is_root();
  cohort->fair_weight = Quantity::of(compiled.weight);
  return engine::CohortSeen{std::move(cohort)};
}

engine::Event QuotaTree::cluster_queue_of(const QueueNode& node, const Compiled& compiled) const {
  auto queue = std::make_shared<ClusterQueue>();
  queue->meta.name = node_name(node.name);
  if (node.object != nullptr) queue->meta.uid = node.object->meta.uid;
  queue->cohort_name = compiled.parent ? queue->meta.name : compiled.above;
  if (!compiled.parent) queue->resource_groups = groups_of(compiled.quotas);
  if (!compiled.parent) queue->fair_weight = Quantity::of(compiled.weight);
  queue->namespace_selector = api::LabelSelector::from_json(JsonObject()).value();
  queue->queueing_strategy =
      compiled.fifo ? api::kueue::QueueingStrategy::kStrictFifo : api::kueue::QueueingStrategy::kBestEffortFifo;
  queue->reclaim_within_cohort = api::kueue::ReclaimWithinCohort::kAny;
  queue->within_cluster_queue = api::kueue::WithinClusterQueue::kLowerPriority;
  // What runs above minimums is preempted for a minimum wherever it runs, whatever either queue deserves.
  queue->borrow_within_cohort = api::kueue::BorrowWithinCohort::kLowerPriority;
  queue->borrow_max_priority_threshold = kFirstToGo;
  queue->stop_policy = compiled.parent || compiled.held ? api::kueue::StopPolicy::kHold : api::kueue::StopPolicy::kNone;
  queue->terms.reclaimable = compiled.reclaimable;
  queue->terms.priority = compiled.priority;
  queue->terms.reclaim_levels = options_.reclaim_levels;
  queue->terms.flavor_of_the_rest = options_.flavor;
  return engine::ClusterQueueSeen{std::move(queue)};
}

std::string QuotaTree::obstacle(std::string_view queue) const {
  const QueueNode* node = forest_.find(queue);
  if (node == nullptr || !node->exists()) return fmt::format("there is no queue {}: create it, or name another", queue);
  const QueueForest::Way way = forest_.way_up(*node);
  if (way.end == QueueForest::Way::End::kMissing)
    return fmt::format(
        "the parents of queue {} lead to queue {}, which does not exist: create it, or change the parent", queue,
        way.last->name);
  if (way.end == QueueForest::Way::End::kCircle)
    return fmt::format("the parents of queue {} run in a circle through queue {}: change the parent of that one", queue,
                       way.last->name);
  for (const QueueNode* at = node; !at->is_root(); at = at->parent) {
    if (!takes_work(*at)) return fmt::format("queue {} is {}: open it", at->name, name_of(at->object->status.state));
  }
  if (node->is_root()) return "the queue root takes no work itself: name a queue without children below it";
  if (!node->children.empty())
    return fmt::format("queue {} has {} child queue(s) and takes no work itself: name one of those without children",
                       queue, node->children.size());
  return {};
}

api::ResourceList QuotaTree::allocated(std::string_view queue, const UsedIn& used_in) const {
  api::ResourceList sum;
  const QueueNode* top = forest_.find(queue);
  if (top == nullptr) return sum;
  std::vector<const QueueNode*> open{top};
  std::set<const QueueNode*> seen{top};
  while (!open.empty()) {
    const QueueNode* node = open.back();
    open.pop_back();
    for (const auto& [resource, quantity] : used_in(node_name(node->name))) {
      Quantity& total = sum[resource];
      total = total.is_zero() ? quantity : total + quantity;
    }
    for (const auto& [name, child] : node->children)
      if (seen.insert(child).second) open.push_back(child);
  }
  return sum;
}

}  // namespace berth::volcano
