// The metrics of a controller, under Kueue's names: what happens to workloads, and the state of queues.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest.h"
#include "api/selector.h"
#include "base/metrics.h"
#include "controller/attempt_metrics.h"
#include "controller/census_metrics.h"
#include "controller/cohort_metrics.h"
#include "controller/custom_labels.h"
#include "controller/divided_gauges.h"
#include "controller/finished_workloads.h"
#include "controller/multikueue_metrics.h"
#include "controller/workload_metrics.h"
#include "engine/engine.h"

namespace berth::controller {

struct ControllerMetricsOptions {
  std::string role = "leader";           // label replica_role; "standalone" without leader election
  bool cluster_queue_resources = false;  // Configuration: metrics.enableClusterQueueResources
  bool local_queues = true;              // Configuration: metrics.localQueueMetrics.enable
  // Configuration: metrics.customLabels, none while the gate CustomMetricLabels is off.
  std::vector<api::config::CustomLabel> custom_labels = {};
  // Configuration: metrics.localQueueMetrics.localQueueSelector; nullopt: every LocalQueue.
  std::optional<api::LabelSelector> local_queue_selector = {};
  // Whether a LocalQueue with these labels has series.
  bool reports_local_queue(const JsonObject& labels) const {
    return local_queues && (!local_queue_selector || local_queue_selector->matches(labels));
  }
};

// Only the leader knows the decisions, so a follower must not call anything here. Call on the executor.
class ControllerMetrics {
 public:
  ControllerMetrics(Metrics& metrics, ControllerMetricsOptions options);

  WorkloadMetrics& workloads() { return workloads_; }
  MultiKueueMetrics& multikueue() { return multikueue_; }
  // Of all workloads that exist. A follower calls this too, so that the counts are right when it leads.
  FinishedWorkloads& finished_workloads() { return finished_workloads_; }
  // A job of this kind, created at a time, has got its workload. Like the other calls, by the leader only.
  void workload_created(const std::string& job_kind, Duration after_job);
  void decided(const engine::Effects& effects, const AttemptMetrics::Round& round) {
    attempts_.decided(effects, round);
  }
  const ControllerMetricsOptions& options() const { return options_; }
  // The state of the queue or cohort may have changed. The work is done in refresh(). Call only for objects that
  // exist: the names are kept until refresh(), which may never be called.
  void cluster_queue_changed(std::string_view name) { changed_cluster_queues_.emplace(name); }
  void cohort_changed(std::string_view name) { changed_cohorts_.emplace(name); }
  void local_queue_changed(std::string_view ns, std::string_view name) { changed_local_queues_.emplace(ns, name); }
  // The object is gone. Removes all of its series at once, so that a new object of the same name starts at zero.
  void cluster_queue_gone(const std::string& name);
  void cohort_gone(const std::string& name);
  void local_queue_gone(const std::string& ns, const std::string& name);

  // Updates the gauges; call before the metrics are read. `find` returns an object as it is stored, null when it is
  // gone; `queue` the same for a ClusterQueue as it is decoded, null also when it never could be.
  using Find = std::function<JsonPtr(const api::GroupVersionResource&, std::string_view ns, std::string_view name)>;
  using FindQueue = std::function<std::shared_ptr<const api::kueue::ClusterQueue>(const std::string& name)>;
  void refresh(const engine::Engine& engine, const Find& find, const FindQueue& queue);

 private:
  void cover_with_custom_labels();
  std::vector<MetricFamily*> of_cluster_queues(), of_local_queues();
  // Removes the gauges of a queue whose object or engine state is missing.
  void drop_cluster_queue(const std::string& name);
  void drop_local_queue(const std::string& ns, const std::string& name);
  void refresh_cluster_queue(const engine::Engine& engine, const Find& find, const FindQueue& queue,
                             const std::string& name);
  void refresh_cohort(const engine::Engine& engine, const Find& find, const std::string& name);
  void refresh_local_queue(const engine::Engine& engine, const Find& find, const std::string& ns,
                           const std::string& name);
  void refresh_tree(const engine::Engine& engine, const Find& find);
  void report_census(const engine::Engine& engine);
  void report_finished();
  void report_divided(const engine::Engine& engine);
  void report_classes(const std::string& queue, const engine::QueueCensus& census);
  void report_requested(const std::string& queue, const engine::QueueCensus& census);
  void report_overlaps(const std::string& queue, const engine::QueueCensus::Overlaps& now);
  void set_quotas(const api::kueue::ClusterQueue& queue, const engine::ClusterQueueStatus& status);
  // Whether the set of series of the queue changed. Finding the series to remove is expensive, so it is done only
  // then.
  bool reshaped(const std::string& queue, std::string shape);

  ControllerMetricsOptions options_;
  CustomLabels custom_labels_;
  WorkloadMetrics workloads_;
  MultiKueueMetrics multikueue_;
  CensusMetrics census_, local_census_;
  CohortMetrics cohorts_;
  AttemptMetrics attempts_;
  GaugeFamily reserving_, admitted_, status_, share_, cohort_share_;
  GaugeFamily local_reserving_, local_admitted_, local_status_, local_reservation_, local_usage_, local_past_usage_;
  GaugeFamily reservation_, usage_, nominal_, borrowing_, lending_;
  GaugeFamily classes_, never_fit_, requested_, skips_, finished_, local_finished_;
  CounterFamily recomputations_;
  HistogramFamily creation_latency_;
  // In place of admitted_, local_admitted_ and the counts of pending workloads of cluster queues; null: no labels of
  // workloads are configured.
  std::unique_ptr<DividedGauges> divided_;
  FinishedWorkloads finished_workloads_;
  std::map<std::string, std::set<std::string>> requested_of_;      // by queue: resources that have a series
  std::map<std::string, engine::QueueCensus::Overlaps> overlaps_;  // by queue, as told
  struct QueueState {
    std::int64_t generation = 0;
    std::int32_t reserving = 0, admitted = 0;
    bool operator==(const QueueState&) const = default;
  };
  std::map<std::string, QueueState> cluster_queues_;        // those that have gauges
  std::map<std::string, std::int64_t> cohort_generations_;  // of Cohorts, as told
  // The local queues (namespace, name) that have gauges, with their cluster queue.
  std::map<std::pair<std::string, std::string>, std::string> local_queues_;
  // By queue: the flavors and resources that have series.
  std::map<std::string, std::string> shapes_;
  std::set<std::string> changed_cluster_queues_, changed_cohorts_;
  std::set<std::pair<std::string, std::string>> changed_local_queues_;
};

}  // namespace berth::controller
