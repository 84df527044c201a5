#include "engine/failed_nodes.h"
#include "engine/slices.h"

#include <utility>

namespace berth::engine {
namespace {

bool is_of_one_pod(const api::ObjectMeta& meta) {
  return meta.owners.size() == 1 && meta.owners[0].kind == "Pod" && meta.owners[0].api_version == "v1";
}

}  // namespace

void FailedNodes::watch(Tracked& t) {
  if (!facts_.options.replace_failed_nodes) return;
  const auto& status = t.now.status();
  if (!lifecycle::holds_quota(status) || !has_places(*status.admission)) {
    t.flavors_then.reset();
    return nodes_.forget(t.id);
  }
  keep_flavors(t);
  nodes_.watch(t.id, name_for_pods(t.now->meta), *status.admission, views_.tolerations(t));
}

void FailedNodes::keep_flavors(Tracked& t) const {
  if (!t.flavors_then) t.flavors_then.emplace();
  for (const auto& ps : t.now.status().admission->pod_set_assignments) {
    const std::string name = facts_.registries.placed_flavor(ps);
    const auto flavor = facts_.registries.flavors.find(name);
    if (flavor != facts_.registries.flavors.end()) t.flavors_then->emplace(name, flavor->second);
  }
}

void FailedNodes::look_at(Tracked& t, lifecycle::Situation& situation, Time now) const {
  t.node_deadline.reset();
  if (!facts_.options.replace_failed_nodes || lifecycle::state_of(*t.now) != lifecycle::State::kAdmitted) return;
  const auto& status = t.now.status();
  if (!status.admission) return;
  if (facts_.options.keep_places_of_single_pods && is_of_one_pod(t.now->meta) && nodes_.has_running_pod(t.key)) {
    situation.failed_nodes.emplace();
    return;
  }
  const bool counts = facts_.options.reclaimable_pods;
  auto verdict = nodes_.verdict(t.id, status.unhealthy_nodes, ended_since(*status.admission, *t.now, counts), now);
  situation.failed_nodes = std::move(verdict.failed);
  t.node_deadline = verdict.next;
}

}  // namespace berth::engine
