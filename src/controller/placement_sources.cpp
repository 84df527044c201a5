#include "controller/placement_sources.h"

#include <algorithm>
#include <utility>

namespace berth::controller {

void NodeSource::set_hostname(const api::Node& node, bool present) {
  const auto label = node.labels.find("kubernetes.io/hostname");
  if (label == node.labels.end()) return;
  auto& names = by_hostname_[label->second];
  if (present) {
    names.insert(node.name);
  } else {
    names.erase(node.name);
  }
  if (names.empty()) by_hostname_.erase(label->second);
}

bool NodeSource::exists(std::string_view hostname) const { return by_hostname_.contains(hostname); }

bool NodeSource::usable(std::string_view hostname) const {
  const auto names = by_hostname_.find(hostname);
  return names != by_hostname_.end() && std::any_of(names->second.begin(), names->second.end(), [&](const auto& name) {
           return told_.find(name)->second->usable();
         });
}

std::optional<engine::Event> NodeSource::changed(const JsonPtr& old, const JsonPtr& now) {
  if (!now) {
    const auto it = told_.find(string_at(*old, {"metadata", "name"}));
    if (it == told_.end()) return std::nullopt;
    engine::NodeGone gone{it->first};
    set_hostname(*it->second, false);
    told_.erase(it);
    return gone;
  }
  auto node = std::make_shared<const api::Node>(api::decode_node(*now));
  auto& last = told_[node->name];
  if (last && *last == *node) return std::nullopt;
  if (last) set_hostname(*last, false);
  last = std::move(node);
  set_hostname(*last, true);
  return engine::NodeSeen{last};
}

std::optional<engine::Event> PodSource::changed(const JsonPtr& old, const JsonPtr& now) {
  const auto it = told_.find(string_at(now ? *now : *old, {"metadata", "uid"}));
  engine::Ptr<api::kueue::PodPlacement> placement;
  if (now) placement = std::make_shared<const api::kueue::PodPlacement>(api::kueue::decode_pod_placement(*now));
  if (!placement || !placement->holds_node()) {
    if (it == told_.end()) return std::nullopt;
    engine::PodGone gone{it->first};
    told_.erase(it);
    return gone;
  }
  if (it == told_.end()) {
    told_.emplace(placement->uid, placement);
  } else if (*it->second == *placement) {
    return std::nullopt;
  } else {
    it->second = placement;
  }
  return engine::PodSeen{std::move(placement)};
}

}  // namespace berth::controller
