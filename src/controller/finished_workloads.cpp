#include "controller/finished_workloads.h"

#include "api/meta.h"

namespace berth::controller {

std::size_t FinishedWorkloads::count(const Counts& counts, std::string_view name) {
  const auto it = counts.find(name);
  return it == counts.end() ? 0 : it->second;
}

void FinishedWorkloads::subtract(Counts& counts, Counts::iterator queue) {
  if (--queue->second == 0) counts.erase(queue);
}

void FinishedWorkloads::seen(const std::string& key, const api::kueue::Workload* now) {
  // The new queues count first, so that the entry of a queue with one workload stays.
  std::pair<Counts::iterator, Counts::iterator> queues;
  const bool counts = now != nullptr && api::is_true(now->status.conditions, api::kueue::kFinished);
  if (counts) {
    const auto& admission = now->status.admission;
    queues = {by_cluster_queue_.try_emplace(admission ? admission->cluster_queue : "").first,
              by_local_queue_.try_emplace(api::object_key(now->meta.ns, now->queue_name)).first};
    ++queues.first->second;
    ++queues.second->second;
  }
  if (const auto known = finished_.find(key); known != finished_.end()) {
    subtract(by_cluster_queue_, known->second.first);
    subtract(by_local_queue_, known->second.second);
    finished_.erase(known);
  }
  if (counts) finished_.emplace(key, queues);
}

}  // namespace berth::controller
