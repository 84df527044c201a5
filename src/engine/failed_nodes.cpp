#include "engine/failed_nodes.h"

#include <utility>

namespace berth::engine {

void FailedNodes::watch(Tracked& t) {
  if (!facts_.options.replace_failed_nodes) return;
  const auto& status = t.now.status();
  if (!lifecycle::holds_quota(status) || !has_places(*status.admission)) return nodes_.forget(t.id);
  nodes_.watch(t.id, t.key, *status.admission, views_.tolerations(t));
}

void FailedNodes::look_at(Tracked& t, lifecycle::Situation& situation, Time now) const {
  t.node_deadline.reset();
  if (!facts_.options.replace_failed_nodes || lifecycle::state_of(*t.now) != lifecycle::State::kAdmitted) return;
  const auto& status = t.now.status();
  if (!status.admission) return;
  auto verdict = nodes_.verdict(t.id, status.unhealthy_nodes, ended_since(*status.admission, *t.now), now);
  situation.failed_nodes = std::move(verdict.failed);
  t.node_deadline = verdict.next;
}

}  // namespace berth::engine
