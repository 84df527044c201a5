#include "volcano/queue_forest.h"

#include <algorithm>
#include <vector>

#include "api/volcano/names.h"

namespace berth::volcano {

using api::volcano::kRootQueue;
using api::volcano::Queue;

namespace {

Amounts to_amounts(const api::ResourceList& list) {
  Amounts out;
  for (const auto& [resource, quantity] : list) out.emplace(resource, to_amount(resource, quantity));
  return out;
}

void add(Amounts& sums, const Amounts& more) {
  for (const auto& [resource, amount] : more) sums[resource] += amount;
}

void subtract(Amounts& sums, const Amounts& less) {
  for (const auto& [resource, amount] : less) {
    const auto it = sums.find(resource);
    it->second -= amount;
    if (it->second.is_zero()) sums.erase(it);
  }
}

// An unlimited sum has lost the amounts that were added to it, so it is computed again. Very rare: amounts near 2^63
// are mistakes in a manifest.
void recount_unlimited(QueueNode& parent, Amounts QueueNode::* sums, Amounts QueueAmounts::* own) {
  for (auto& [resource, sum] : parent.*sums) {
    if (!sum.is_unlimited()) continue;
    sum = Amount();
    for (const auto& [name, child] : parent.children) sum += amount_of(child->*own, resource);
  }
  std::erase_if(parent.*sums, [](const auto& each) { return each.second.is_zero(); });
}

std::string_view hierarchy_of(const Queue& queue) {
  const auto it = queue.meta.annotations.find(api::volcano::kHierarchy);
  return it == queue.meta.annotations.end() ? std::string_view() : std::string_view(it->second);
}

}  // namespace

Amount amount_of(const Amounts& amounts, std::string_view resource) {
  const auto it = amounts.find(resource);
  return it == amounts.end() ? Amount() : it->second;
}

QueueAmounts amounts_of(const Queue& queue) {
  QueueAmounts out{to_amounts(queue.capability), to_amounts(queue.guarantee), to_amounts(queue.deserved)};
  // Negative amounts were written without an admission check.
  std::erase_if(out.guarantee, [](const auto& each) { return each.second <= Amount(); });
  std::erase_if(out.deserved, [](const auto& each) { return each.second <= Amount(); });
  for (const auto& [resource, amount] : out.guarantee) {
    Amount& deserved = out.deserved[resource];
    deserved = max(deserved, amount);
  }
  return out;
}

std::string_view parent_of(const Queue& queue) {
  return queue.parent.empty() ? kRootQueue : std::string_view(queue.parent);
}

bool QueueNode::is_root() const { return name == kRootQueue; }

QueueForest::QueueForest() { root_ = &node_of(kRootQueue); }

QueueNode& QueueForest::node_of(std::string_view name) {
  auto it = nodes_.find(name);
  if (it == nodes_.end()) {
    it = nodes_.try_emplace(std::string(name)).first;
    it->second.name = name;
  }
  return it->second;
}

const QueueNode* QueueForest::find(std::string_view name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

void QueueForest::set(QueuePtr queue) {
  QueueNode& node = node_of(queue->meta.name);
  QueueNode* former = node.parent;
  QueueNode* parent = node.is_root() ? nullptr : &node_of(parent_of(*queue));
  unlink(node);
  take_values(node, std::move(queue));
  link(node, parent);
  if (former != nullptr && former != parent) drop_if_unused(*former);
}

void QueueForest::remove(std::string_view name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end() || it->second.object == nullptr) return;
  QueueNode& node = it->second;
  QueueNode* former = node.parent;
  unlink(node);
  take_values(node, nullptr);
  if (former != nullptr && former != &node) drop_if_unused(*former);
  drop_if_unused(node);
}

void QueueForest::take_values(QueueNode& node, QueuePtr queue) {
  const std::string_view former_path = node.object == nullptr ? std::string_view() : hierarchy_of(*node.object);
  if (!former_path.empty()) paths_.erase({std::string(former_path), node.name});
  static_cast<QueueAmounts&>(node) = queue == nullptr ? QueueAmounts() : amounts_of(*queue);
  node.object = std::move(queue);
  const std::string_view path = node.object == nullptr ? std::string_view() : hierarchy_of(*node.object);
  if (!path.empty()) paths_.emplace(path, node.name);
}

void QueueForest::link(QueueNode& node, QueueNode* parent) {
  node.parent = parent;
  if (parent == nullptr) return;
  parent->children.emplace(node.name, &node);
  add(parent->children_guarantee, node.guarantee);
  add(parent->children_deserved, node.deserved);
}

void QueueForest::unlink(QueueNode& node) {
  QueueNode* parent = std::exchange(node.parent, nullptr);
  if (parent == nullptr) return;
  parent->children.erase(node.name);
  subtract(parent->children_guarantee, node.guarantee);
  subtract(parent->children_deserved, node.deserved);
  recount_unlimited(*parent, &QueueNode::children_guarantee, &QueueAmounts::guarantee);
  recount_unlimited(*parent, &QueueNode::children_deserved, &QueueAmounts::deserved);
}

void QueueForest::drop_if_unused(QueueNode& node) {
  if (!node.exists() && node.children.empty()) nodes_.erase(nodes_.find(node.name));
}

QueueForest::Way QueueForest::way_up(const QueueNode& node) const {
  Way way{Way::End::kRoot, 0, &node};
  // Cycle detection: in a cycle the path returns to the mark, which moves forward after 1, 2, 4, ... steps.
  const QueueNode* mark = &node;
  int next_mark = 1;
  while (!way.last->is_root()) {
    if (way.last->object == nullptr) return {Way::End::kMissing, 0, way.last};
    way.last = way.last->parent;
    ++way.level;
    if (way.last == mark) return {Way::End::kCircle, 0, way.last};
    if (way.level == next_mark) {
      mark = way.last;
      next_mark *= 2;
    }
  }
  return way;
}

int QueueForest::height(const QueueNode& node) const {
  int height = 0;
  std::size_t looked_at = 0;
  std::vector<std::pair<const QueueNode*, int>> open{{&node, 0}};
  while (!open.empty()) {
    const auto [at, depth] = open.back();
    open.pop_back();
    height = std::max(height, depth);
    if (++looked_at > nodes_.size()) return static_cast<int>(nodes_.size());  // some were visited twice: a cycle
    for (const auto& [name, child] : at->children) open.emplace_back(child, depth + 1);
  }
  return height;
}

bool QueueForest::is_below(const QueueNode& node, const QueueNode& ancestor) const {
  const QueueNode* at = &node;
  for (std::size_t steps = 0; at != nullptr && steps <= nodes_.size(); ++steps, at = at->parent)
    if (at == &ancestor) return true;
  return false;
}

std::string_view QueueForest::goes_on(std::string_view path, std::string_view own_name) const {
  const std::string prefix = std::string(path) + "/";
  for (auto it = paths_.lower_bound({prefix, ""}); it != paths_.end() && it->first.starts_with(prefix); ++it)
    if (it->second != own_name) return it->second;
  return {};
}

}  // namespace berth::volcano
