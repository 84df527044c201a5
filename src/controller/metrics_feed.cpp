#include "controller/metrics_feed.h"

#include <utility>

#include "api/meta.h"

namespace berth::controller {
namespace {

std::pair<std::string, std::string> parts_of(const std::string& key) {
  const auto slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

MetricsFeed::MetricsFeed(Shell& shell, const Cluster& cluster)
    : shell_(shell),
      cluster_(cluster),
      metrics_(shell.options.metrics),
      known_queues_{
          [this](std::string_view name) { return cluster_.cluster_queues.get(name) != nullptr; },
          [this](std::string_view ns, std::string_view name) { return reports_local_queue(api::object_key(ns, name)); },
          [this](std::string_view cluster_queue) { return shell_.engine().cohorts_above(cluster_queue); }} {}

bool MetricsFeed::reports_local_queue(const std::string& key) const {
  const auto queue = cluster_.local_queues.get(key);
  return queue && metrics_->options().reports_local_queue(api::encode_string_map(queue->meta.labels).as_object());
}

void MetricsFeed::workload_changed(const std::string& key, const jobs::WorkloadPtr& before,
                                   const jobs::WorkloadPtr& now) {
  if (metrics_ == nullptr) return;
  metrics_->finished_workloads().seen(key, now.get());
  if (shell_.leading() && before && now) metrics_->workloads().changed(*before, *now, known_queues_);
}

void MetricsFeed::workload_created(std::string_view kind, const Json& job) {
  if (metrics_ == nullptr) return;
  const auto created = parse_time(string_at(job, {"metadata", "creationTimestamp"}));
  if (created) metrics_->workload_created(std::string(kind), shell_.executor.now() - *created);
}

void MetricsFeed::gate_removed(std::string_view gate, const api::kueue::Workload& workload, bool grouped) {
  if (metrics_ != nullptr)
    metrics_->workloads().gate_removed(gate, workload, grouped, shell_.executor.now(), known_queues_);
}

void MetricsFeed::decided(const engine::Effects& effects, Duration took) {
  if (metrics_ != nullptr)
    metrics_->decided(effects, {shell_.executor.now() - took, took, shell_.engine().evaluated()});
}

void MetricsFeed::cluster_queue_changed(const std::string& name) {
  if (metrics_ != nullptr && cluster_.cluster_queues.get(name)) metrics_->cluster_queue_changed(name);
}

void MetricsFeed::local_queue_changed(const std::string& key) {
  if (metrics_ == nullptr || !cluster_.local_queues.get(key)) return;
  const auto [ns, name] = parts_of(key);
  metrics_->local_queue_changed(ns, name);
}

void MetricsFeed::cohort_changed(const std::string& name) {
  if (metrics_ != nullptr && cluster_.cohorts.get(name)) metrics_->cohort_changed(name);
}

void MetricsFeed::cluster_queue_gone(const std::string& name) {
  if (metrics_ != nullptr) metrics_->cluster_queue_gone(name);
}

void MetricsFeed::local_queue_gone(const std::string& key) {
  if (metrics_ == nullptr) return;
  const auto [ns, name] = parts_of(key);
  metrics_->local_queue_gone(ns, name);
}

void MetricsFeed::cohort_gone(const std::string& name) {
  if (metrics_ != nullptr) metrics_->cohort_gone(name);
}

void MetricsFeed::refresh(const ControllerMetrics::Find& find) {
  if (metrics_ == nullptr || !shell_.leading()) return;
  metrics_->refresh(shell_.engine(), find,
                    [this](const std::string& name) { return cluster_.cluster_queues.get(name); });
}

}  // namespace berth::controller
