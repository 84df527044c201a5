// Which nodes a pod may run on, independent of free capacity: node selector, required affinity and taints (KEP-2724).
// Used where the nodes are in the tree of domains (View).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/scheduling.h"
#include "engine/topology/nodes.h"

namespace berth::engine::topology {

enum class Fitness : std::uint8_t { kFits, kSelector, kAffinity, kTaint };

class NodeFilter {
 public:
  NodeFilter(const api::NodeConstraints* constraints, const std::vector<api::Toleration>& flavor_tolerations);

  // Caches verdicts about taints: the same filter is asked about many nodes.
  Fitness look(const Node& node, const Nodes& nodes, const StringPool& strings);
  // The first taint that the pod does not tolerate, as "key=value:Effect".
  std::string untolerated(const Node& node, const Nodes& nodes) const;
  // How much the pod prefers the node: the sum of the weights of the preferred terms that match.
  std::int64_t score(const Node& node, const StringPool& strings) const;
  const api::NodeConstraints& constraints() const { return constraints_; }  // without the flavor's tolerations

 private:
  bool selected(const Node& node, const StringPool& strings) const;
  bool liked(const Node& node, const StringPool& strings) const;
  bool tolerated(TaintsId id, const Nodes& nodes);
  const api::Taint* find_untolerated(const std::vector<api::Taint>& taints) const;

  api::NodeConstraints constraints_;
  std::vector<api::Toleration> tolerations_;
  api::StringMap affinity_labels(const Node& node, const StringPool& strings) const;

  std::vector<std::string> affinity_keys_;  // label keys used by the affinity expressions, sorted
  enum class Known : std::uint8_t { kNo, kTolerated, kNot };
  std::vector<Known> taints_;  // by TaintsId
  std::uint64_t taints_generation_ = 0;
};

}  // namespace berth::engine::topology
