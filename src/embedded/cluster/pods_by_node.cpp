#include "embedded/cluster/pods_by_node.h"

#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {

void PodsByNode::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto node_of = [](const JsonPtr& pod) {
    return pod ? string_at(*pod, {"spec", "nodeName"}) : std::string_view();
  };
  const auto before = node_of(old), after = node_of(now);
  if (!before.empty() && before != after) {
    if (const auto it = pods_.find(before); it != pods_.end()) {
      it->second.erase(pod_key(*old));
      if (it->second.empty()) pods_.erase(it);
    }
  }
  if (!after.empty()) pods_[std::string(after)].insert(pod_key(*now));
}

std::vector<std::string> PodsByNode::on(std::string_view node) const {
  const auto it = pods_.find(node);
  if (it == pods_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

}  // namespace berth::cluster
