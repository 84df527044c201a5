#include "controller/finished_workloads.h"

#include "api/meta.h"

namespace berth::controller {

std::size_t FinishedWorkloads::count(const Counts& counts, std::string_view name) {
  const auto it = counts.find(name);
  return it == counts.end() ? 0 : it->second;
}

void FinishedWorkloads::subtract(Counts& counts, const std::string& name) {
  const auto it = counts.find(name);
  if (--it->second == 0) counts.erase(it);
}

void FinishedWorkloads::seen(const std::string& key, const api::kueue::Workload* now) {
  std::pair<std::string, std::string> queues;
  const bool counts = now != nullptr && api::is_true(now->status.conditions, api::kueue::kFinished);
  if (counts)
    queues = {now->status.admission ? now->status.admission->cluster_queue : "",
              api::object_key(now->meta.ns, now->queue_name)};
  const auto known = finished_.find(key);
  if (known != finished_.end()) {
    if (counts && known->second == queues) return;
    subtract(by_cluster_queue_, known->second.first);
    subtract(by_local_queue_, known->second.second);
    finished_.erase(known);
  }
  if (!counts) return;
  ++by_cluster_queue_[queues.first];
  ++by_local_queue_[queues.second];
  finished_.emplace(key, std::move(queues));
}

}  // namespace berth::controller
