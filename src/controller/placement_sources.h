// From nodes and pods to events of the engine. Both change far more often than placement cares: a heartbeat, an
// annotation or a pod that runs on costs no decision.
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

// Both remember what the engine was told last, as the value that the engine shares. As with other sources, `now` is
// null when the object is gone, then `old` holds its last state.
class NodeSource {
 public:
  std::optional<engine::Event> changed(const JsonPtr& old, const JsonPtr& now);

  // By the label kubernetes.io/hostname, which need not be the name.
  bool exists(std::string_view hostname) const;
  bool usable(std::string_view hostname) const;  // ready and not cordoned

 private:
  void set_hostname(const api::Node& node, bool present);

  std::map<std::string, engine::Ptr<api::Node>, std::less<>> told_;
  std::map<std::string, std::set<std::string>, std::less<>> by_hostname_;  // names
};

// Only pods that hold a node (PodPlacement::holds_node) are told, and when they hold it no more.
class PodSource {
 public:
  std::optional<engine::Event> changed(const JsonPtr& old, const JsonPtr& now);

 private:
  std::map<std::string, engine::Ptr<api::PodPlacement>, std::less<>> told_;  // by uid
};

}  // namespace berth::controller
