#include "controller/multikueue_metrics.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/kueue/types.h"

namespace berth::controller {
namespace {

// A worker chooses the text: only these make series.
constexpr std::array<std::string_view, 7> kReasons = {"Preempted",           "PodsReadyTimeout",  "AdmissionCheck",
                                                      "ClusterQueueStopped", "LocalQueueStopped", "NodeFailures",
                                                      "Deactivated"};

std::string known_reason(std::string_view reason) {
  if (reason.starts_with("DeactivatedDueTo")) return "Deactivated";
  return std::ranges::find(kReasons, reason) == kReasons.end() ? "Other" : std::string(reason);
}

}  // namespace

MultiKueueMetrics::MultiKueueMetrics(Metrics& m, std::string role)
    : role_(std::move(role)),
      dispatched_(m.counter("multikueue_workloads_dispatched_total", "Copies of workloads that were created.")),
      admitted_(m.counter("multikueue_workloads_admitted_total", "Workloads that the cluster was chosen for.")),
      evicted_(m.counter("multikueue_workloads_evicted_total", "Evictions of admitted copies by the cluster.")),
      status_(m.gauge("multikueue_cluster_status", "1 for whether the cluster is active.")) {}

void MultiKueueMetrics::dispatched(const std::string& cluster_queue, const std::string& cluster) {
  dispatched_.add({{"cluster_queue", cluster_queue}, {"cluster", cluster}, {"replica_role", role_}});
}

void MultiKueueMetrics::admitted(const std::string& cluster_queue, const std::string& cluster) {
  admitted_.add({{"cluster_queue", cluster_queue}, {"cluster", cluster}, {"replica_role", role_}});
}

void MultiKueueMetrics::evicted(const std::string& cluster_queue, const std::string& cluster, std::string_view reason) {
  evicted_.add({{"cluster_queue", cluster_queue},
                {"cluster", cluster},
                {"reason", known_reason(reason)},
                {"replica_role", role_}});
}

void MultiKueueMetrics::begin_states() {
  for (const auto& queue : std::exchange(queues_with_states_, {})) status_.remove({{"cluster_queue", queue}});
}

void MultiKueueMetrics::state(const std::string& cluster_queue, const std::string& cluster, Active active) {
  queues_with_states_.insert(cluster_queue);
  for (const auto& [name, value] : {std::pair<std::string, Active>("True", Active::kTrue),
                                    {"False", Active::kFalse},
                                    {"Unknown", Active::kUnknown}}) {
    status_.set({{"cluster_queue", cluster_queue}, {"cluster", cluster}, {"active", name}, {"replica_role", role_}},
                active == value ? 1 : 0);
  }
}

void MultiKueueMetrics::forget_cluster_queue(const std::string& name) {
  for (MetricFamily* family : {static_cast<MetricFamily*>(&dispatched_), static_cast<MetricFamily*>(&admitted_),
                               static_cast<MetricFamily*>(&evicted_), static_cast<MetricFamily*>(&status_)})
    family->remove({{"cluster_queue", name}});
  queues_with_states_.erase(name);
}

}  // namespace berth::controller
