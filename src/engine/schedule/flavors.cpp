#include "engine/schedule/flavors.h"

#include <algorithm>
#include <set>

namespace berth::engine {
namespace {

bool affinity_matches(const FlavorTable::Flavor& flavor, const api::NodeConstraints& constraints) {
  for (const auto& [key, value] : constraints.node_selector) {
    auto label = flavor.node_labels.find(key);
    if (label != flavor.node_labels.end() && label->second != value) return false;
  }
  bool any_term = false;
  for (const auto& term : constraints.required_terms) {
    bool constrains = false, matches = true;
    for (const auto& requirement : term.expressions) {
      if (!flavor.node_labels.contains(requirement.key)) continue;
      constrains = true;
      matches = matches && api::matches(requirement, flavor.node_labels);
    }
    if (!constrains) return true;
    any_term = any_term || matches;
  }
  return any_term || constraints.required_terms.empty();
}

// "gpu=a100", "zone in (a, b)": at most five values.
std::string requirement_text(const api::NodeSelectorRequirement& requirement) {
  constexpr std::size_t kMostValues = 5;
  std::string out = requirement.key + " " + requirement.op;
  if (requirement.values.empty()) return out;
  out += " (";
  for (std::size_t i = 0; i < std::min(requirement.values.size(), kMostValues); ++i)
    out += (i == 0 ? "" : ", ") + requirement.values[i];
  return out + (requirement.values.size() > kMostValues ? ", ...)" : ")");
}

// What the pods ask of labels that the flavor has, and these labels. At most kMostAsked of each.
std::string affinity_text(const FlavorTable::Flavor& flavor, const api::NodeConstraints& constraints) {
  constexpr std::size_t kMostAsked = 3;
  std::vector<std::string> asked;
  std::set<std::string> keys;
  const auto ask = [&](const std::string& key, std::string text) {
    if (asked.size() == kMostAsked || std::ranges::find(asked, text) != asked.end()) return;
    asked.push_back(std::move(text));
    keys.insert(key);
  };
  for (const auto& [key, value] : constraints.node_selector) {
    const auto label = flavor.node_labels.find(key);
    if (label != flavor.node_labels.end() && label->second != value) ask(key, key + "=" + value);
  }
  for (const auto& term : constraints.required_terms) {
    for (const auto& requirement : term.expressions) {
      const bool known = flavor.node_labels.contains(requirement.key);
      if (known && !api::matches(requirement, flavor.node_labels)) ask(requirement.key, requirement_text(requirement));
    }
  }
  std::string wants, has;
  for (const std::string& each : asked) wants += (wants.empty() ? "" : ", ") + each;
  for (const std::string& key : keys) has += (has.empty() ? "" : ", ") + key + "=" + flavor.node_labels.at(key);
  return ": the pods ask for " + wants + ", its nodes have " + has;
}

// The taint as Go prints it: {key value effect timeAdded}.
std::string taint_text(const api::Taint& taint) {
  return "{" + taint.key + " " + taint.value + " " + taint.effect + " <nil>}";
}

}  // namespace

bool FlavorTable::set(FlavorId id, const api::kueue::ResourceFlavor& flavor) {
  if (flavors_.size() <= id.index()) flavors_.resize(id.index() + 1);
  Flavor next{true, flavor.node_labels, flavor.node_taints, flavor.tolerations, flavor.topology_name};
  if (flavors_[id.index()] == next) return false;
  flavors_[id.index()] = std::move(next);
  return true;
}

bool FlavorTable::remove(FlavorId id) {
  if (!id.valid() || !exists(id)) return false;
  flavors_[id.index()] = Flavor();
  return true;
}

std::vector<FlavorId> FlavorTable::with_topology(std::string_view name) const {
  std::vector<FlavorId> found;
  for (std::size_t i = 0; i < flavors_.size(); ++i) {
    if (flavors_[i].exists && flavors_[i].topology_name == name) found.push_back(FlavorId(i));
  }
  return found;
}

std::string FlavorTable::mismatch(FlavorId id, const std::string& name, const api::NodeConstraints& constraints) const {
  if (!exists(id)) return "flavor " + name + " not found";
  const Flavor& flavor = flavors_[id.index()];
  for (const api::Taint& taint : flavor.node_taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (api::tolerates(constraints.tolerations, taint) || api::tolerates(flavor.tolerations, taint)) continue;
    return "untolerated taint " + taint_text(taint) + " in flavor " + name;
  }
  if (!affinity_matches(flavor, constraints)) {
    return "flavor " + name + " doesn't match node affinity" + affinity_text(flavor, constraints);
  }
  return "";
}

}  // namespace berth::engine
