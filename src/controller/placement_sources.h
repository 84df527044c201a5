// Nodes by their hostnames, and the engine events of pods. Pods change far more often than their placement: an
// annotation or a status change of a running pod gives no event.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "base/json.h"
#include "engine/engine.h"
#include "jobs/ungate.h"

namespace berth::controller {

// By the label kubernetes.io/hostname, which may differ from the node's name.
class NodeHosts {
 public:
  using NodePtr = std::shared_ptr<const api::Node>;

  // `old` is null for an added node, `now` is null for a deleted one.
  void changed(const NodePtr& old, const NodePtr& now);

  bool exists(std::string_view hostname) const { return by_hostname_.contains(hostname); }
  // Ready, not cordoned, and without a taint that keeps pods with these tolerations away.
  bool usable(std::string_view hostname, const std::vector<api::Toleration>& tolerations) const;
  // Both for the jobs; this object must outlive it.
  jobs::HostFacts facts() const;

 private:
  std::map<std::string, std::map<std::string, NodePtr>, std::less<>> by_hostname_;  // then by the name of the node
};

// Reports only pods that hold a node (PodPlacement::holds_node), and when a pod no longer holds one. Keeps what the
// engine was told last, as the value that the engine shares.
class PodSource {
 public:
  // `all_of_workloads`: also reports pods that name their workload and hold no node.
  explicit PodSource(bool all_of_workloads) : all_of_workloads_(all_of_workloads) {}

  // `now` is null when the pod is gone; of `old` only the uid is used. nullopt: nothing changed that matters to the
  // engine.
  std::optional<engine::Event> changed(const JsonPtr& old, const JsonPtr& now);

 private:
  bool all_of_workloads_;
  std::map<std::string, engine::Ptr<api::kueue::PodPlacement>, std::less<>> reported_;  // by uid
};

}  // namespace berth::controller
