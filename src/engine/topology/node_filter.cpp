// Node constraints of a pod against interned nodes.
#include "engine/topology/node_filter.h"

#include <algorithm>

namespace berth::engine::topology {

namespace {

StringId label(const Node& node, const StringPool& strings, std::string_view key) {
  const StringId id = strings.find(key);
  return id.valid() ? node.label(id) : StringId();
}

}  // namespace

NodeFilter::NodeFilter(const api::NodeConstraints* constraints, const std::vector<api::Toleration>& flavor_tolerations)
    : tolerations_(flavor_tolerations) {
  if (!constraints) return;
  constraints_ = *constraints;
  tolerations_.insert(tolerations_.end(), constraints->tolerations.begin(), constraints->tolerations.end());
  for (const api::NodeSelectorTerm& term : constraints->required_terms) {
    for (const api::NodeSelectorRequirement& each : term.expressions) affinity_keys_.push_back(each.key);
  }
  for (const api::PreferredTerm& preferred : constraints->preferred_terms) {
    for (const api::NodeSelectorRequirement& each : preferred.term.expressions) affinity_keys_.push_back(each.key);
  }
  std::sort(affinity_keys_.begin(), affinity_keys_.end());
  affinity_keys_.erase(std::unique(affinity_keys_.begin(), affinity_keys_.end()), affinity_keys_.end());
}

Fitness NodeFilter::look(const Node& node, const Nodes& nodes, const StringPool& strings) {
  if (!selected(node, strings)) return Fitness::kSelector;
  if (!liked(node, strings)) return Fitness::kAffinity;
  return tolerated(node.taints, nodes) ? Fitness::kFits : Fitness::kTaint;
}

bool NodeFilter::selected(const Node& node, const StringPool& strings) const {
  for (const auto& [key, value] : constraints_.node_selector) {
    const StringId found = label(node, strings, key);
    if (!found.valid() || strings[found] != value) return false;
  }
  return true;
}

bool NodeFilter::liked(const Node& node, const StringPool& strings) const {
  if (constraints_.required_terms.empty()) return true;
  const api::StringMap labels = affinity_labels(node, strings);
  return std::any_of(constraints_.required_terms.begin(), constraints_.required_terms.end(),
                     [&](const api::NodeSelectorTerm& term) { return api::matches(term, labels, strings[node.name]); });
}

// Only those that the affinity is about.
api::StringMap NodeFilter::affinity_labels(const Node& node, const StringPool& strings) const {
  api::StringMap labels;
  for (const std::string& key : affinity_keys_) {
    if (const StringId value = label(node, strings, key); value.valid()) labels.emplace(key, strings[value]);
  }
  return labels;
}

std::int64_t NodeFilter::score(const Node& node, const StringPool& strings) const {
  if (constraints_.preferred_terms.empty()) return 0;
  const api::StringMap labels = affinity_labels(node, strings);
  std::int64_t sum = 0;
  for (const api::PreferredTerm& each : constraints_.preferred_terms) {
    if (api::matches(each.term, labels, strings[node.name])) sum += each.weight;
  }
  return sum;
}

bool NodeFilter::tolerated(TaintsId id, const Nodes& nodes) {
  if (taints_generation_ != nodes.taints_generation()) {
    taints_.clear();
    taints_generation_ = nodes.taints_generation();
  }
  if (taints_.size() <= id.index()) taints_.resize(nodes.taint_lists(), Known::kNo);
  Known& known = taints_[id.index()];
  if (known == Known::kNo) known = find_untolerated(nodes.taints(id)) ? Known::kNot : Known::kTolerated;
  return known == Known::kTolerated;
}

const api::Taint* NodeFilter::find_untolerated(const std::vector<api::Taint>& taints) const {
  return api::find_untolerated(taints, tolerations_);
}

std::string NodeFilter::untolerated(const Node& node, const Nodes& nodes) const {
  const api::Taint* taint = find_untolerated(nodes.taints(node.taints));
  if (!taint) return "";
  return taint->key + (taint->value.empty() ? "" : "=" + taint->value) + ":" + taint->effect;
}

}  // namespace berth::engine::topology
