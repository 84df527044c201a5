#include "controller/placement_sources.h"
#include "api/core/node_labels.h"

#include <algorithm>
#include <utility>

namespace berth::controller {

void NodeHosts::changed(const NodePtr& old, const NodePtr& now) {
  if (old) {
    if (const auto label = old->labels.find(api::kHostnameLabel); label != old->labels.end()) {
      const auto nodes = by_hostname_.find(label->second);
      nodes->second.erase(old->name);
      if (nodes->second.empty()) by_hostname_.erase(nodes);
    }
  }
  if (!now) return;
  if (const auto label = now->labels.find(api::kHostnameLabel); label != now->labels.end())
    by_hostname_[label->second][now->name] = now;
}

bool NodeHosts::usable(std::string_view hostname, const std::vector<api::Toleration>& tolerations) const {
  const auto nodes = by_hostname_.find(hostname);
  return nodes != by_hostname_.end() && std::ranges::any_of(nodes->second, [&](const auto& node) {
           return node.second->usable() && api::find_untolerated(node.second->taints, tolerations) == nullptr;
         });
}

jobs::HostFacts NodeHosts::facts() const {
  return {[this](std::string_view hostname) { return exists(hostname); },
          [this](std::string_view hostname, const auto& tolerations) { return usable(hostname, tolerations); }};
}

std::optional<engine::Event> PodSource::changed(const JsonPtr& old, const JsonPtr& now) {
  const auto it = reported_.find(string_at(now ? *now : *old, {"metadata", "uid"}));
  engine::Ptr<api::kueue::PodPlacement> placement;
  if (now) placement = std::make_shared<const api::kueue::PodPlacement>(api::kueue::decode_pod_placement(*now));
  const bool matters = placement && (placement->holds_node() || (all_of_workloads_ && !placement->workload.empty()));
  if (!matters) {
    if (it == reported_.end()) return std::nullopt;
    engine::PodGone gone{it->first};
    reported_.erase(it);
    return gone;
  }
  if (it == reported_.end()) {
    reported_.emplace(placement->uid, placement);
  } else if (*it->second == *placement) {
    return std::nullopt;
  } else {
    it->second = placement;
  }
  return engine::PodSeen{std::move(placement)};
}

}  // namespace berth::controller
