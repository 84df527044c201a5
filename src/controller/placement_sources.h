// Converts nodes and pods to engine events. Both change far more often than their placement: a heartbeat, an
// annotation or a status change of a running pod gives no event.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "engine/engine.h"

namespace berth::controller {

// Both classes keep what the engine was told last, as the value that the engine shares. `now` is null when the object
// is gone; then `old` holds its last state. The result is nullopt when nothing changed that matters to the engine.
class NodeSource {
 public:
  std::optional<engine::Event> changed(const JsonPtr& old, const JsonPtr& now);

  // By the label kubernetes.io/hostname, which may differ from the node's name.
  bool exists(std::string_view hostname) const;
  bool usable(std::string_view hostname) const;  // ready and not cordoned

 private:
  void set_hostname(const api::Node& node, bool present);

  std::map<std::string, engine::Ptr<api::Node>, std::less<>> told_;
  std::map<std::string, std::set<std::string>, std::less<>> by_hostname_;  // names of nodes
};

// Reports only pods that hold a node (PodPlacement::holds_node), and when a pod no longer holds one.
class PodSource {
 public:
  std::optional<engine::Event> changed(const JsonPtr& old, const JsonPtr& now);

 private:
  std::map<std::string, engine::Ptr<api::kueue::PodPlacement>, std::less<>> told_;  // by uid
};

}  // namespace berth::controller
