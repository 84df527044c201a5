#include "controller/placement_sources.h"

#include <utility>

namespace berth::controller {

std::optional<engine::Event> NodeSource::changed(const JsonPtr& old, const JsonPtr& now) {
  if (!now) {
    const auto it = told_.find(string_at(*old, {"metadata", "name"}));
    if (it == told_.end()) return std::nullopt;
    engine::NodeGone gone{it->first};
    told_.erase(it);
    return gone;
  }
  auto node = std::make_shared<const api::Node>(api::decode_node(*now));
  auto& last = told_[node->name];
  if (last && *last == *node) return std::nullopt;
  last = std::move(node);
  return engine::NodeSeen{last};
}

std::optional<engine::Event> PodSource::changed(const JsonPtr& old, const JsonPtr& now) {
  const auto it = told_.find(string_at(now ? *now : *old, {"metadata", "uid"}));
  engine::Ptr<api::PodPlacement> placement;
  if (now) placement = std::make_shared<const api::PodPlacement>(api::decode_pod_placement(*now));
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
