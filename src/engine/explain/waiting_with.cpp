#include "engine/explain/waiting_with.h"

#include <algorithm>

#include "api/meta.h"
#include "engine/explain/future.h"
#include "engine/explain/rehearsal.h"

namespace berth::engine {

std::string competition_of(const Engine& engine, const std::string& cluster_queue) {
  return Rehearsal::has_topologies(engine) ? "all" : tree_of(engine, cluster_queue);
}

std::vector<std::string> waiting_with(const Engine& engine, std::string_view ns, std::string_view name,
                                      std::size_t most) {
  std::vector<std::string> out{api::object_key(ns, name)};
  const auto position = engine.pending_position(ns, name);
  if (!position) return out;
  const std::string competition = competition_of(engine, position->cluster_queue);
  std::vector<std::string> names;
  for (std::string& queue : Rehearsal::cluster_queues_of(engine)) {
    const auto counts = engine.pending_counts(queue);
    if (counts.active + counts.inadmissible > 0 && competition_of(engine, queue) == competition)
      names.push_back(std::move(queue));
  }
  // Some queues are short, so a few more of each.
  const std::size_t page = std::min(most, 4 * most / std::max<std::size_t>(1, names.size()) + 1);
  std::vector<std::vector<PendingWorkload>> queues;
  for (const std::string& queue : names)
    queues.push_back(engine.pending_in_cluster_queue(queue, 0, page).value_or(std::vector<PendingWorkload>()));
  for (std::size_t place = 0; place < page; ++place) {
    for (const auto& queue : queues) {
      if (out.size() >= most) return out;
      if (place >= queue.size()) continue;
      std::string key = api::object_key(queue[place].object->meta);
      if (key != out.front()) out.push_back(std::move(key));
    }
  }
  return out;
}

}  // namespace berth::engine
