// What MultiKueue tells the metrics.
#include "controller/metrics.h"
#include "controller/multikueue.h"
#include "multikueue/copy.h"

namespace berth::controller {
std::string MultiKueueController::queue_of(const api::kueue::Workload& workload) {
  return workload.status.admission ? workload.status.admission->cluster_queue : std::string();
}

void MultiKueueController::count_change(const std::string& key, const jobs::WorkloadPtr& old,
                                        const jobs::WorkloadPtr& now) {
  const std::string before = old ? old->status.cluster_name : std::string();
  const std::string after = now ? now->status.cluster_name : std::string();
  if (before != after) counted_evictions_.erase(key);
  const bool chosen = old && !after.empty() && before != after;
  if (chosen && shell_.options.metrics != nullptr) shell_.options.metrics->multikueue().admitted(queue_of(*now), after);
}

// A choice ends by one eviction, however often it is looked at until the status tells it.
void MultiKueueController::count_eviction(const View& view) {
  const std::string key = api::object_key(view.workload->meta);
  const WorkerCluster* cluster = clusters_.find(view.local.cluster_name);
  const auto copy = cluster == nullptr ? nullptr : cluster->copy(key);
  const auto* evicted = copy ? api::find_condition(copy->conditions, api::kueue::kEvicted) : nullptr;
  if (evicted == nullptr || !evicted->status || !counted_evictions_.insert(key).second) return;
  if (shell_.options.metrics != nullptr)
    shell_.options.metrics->multikueue().evicted(queue_of(*view.workload), view.local.cluster_name, evicted->reason);
}

void MultiKueueController::refresh_metrics(const Queues& queues) {
  if (shell_.options.metrics == nullptr || !ready()) return;
  MultiKueueMetrics& metrics = shell_.options.metrics->multikueue();
  metrics.begin_states();
  for (const auto& [name, queue] : queues) {
    for (const auto& rule : queue->admission_checks) {
      const auto check = is_ours(rule.name) ? known_checks_.get(rule.name) : nullptr;
      if (!check) continue;
      const auto clusters = clusters_of(*check, [this](std::string_view config) { return configs_.get(config); });
      for (const auto& cluster : clusters ? *clusters : std::vector<std::string>()) {
        const ClusterState state = state_of_cluster(cluster);
        if (state == ClusterState::kMissing) continue;
        metrics.state(name, cluster,
                      state == ClusterState::kActive     ? MultiKueueMetrics::Active::kTrue
                      : state == ClusterState::kInactive ? MultiKueueMetrics::Active::kFalse
                                                         : MultiKueueMetrics::Active::kUnknown);
      }
    }
  }
}

}  // namespace berth::controller
