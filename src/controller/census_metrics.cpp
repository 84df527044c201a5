#include "controller/census_metrics.h"

#include <utility>

#include "controller/metric_labels.h"

namespace berth::controller {
CensusMetrics::CensusMetrics(Metrics& m, const std::string& prefix, bool divided)
    : divided_(divided),
      pending_(m.gauge(prefix + "pending_workloads", "Workloads that wait.")),
      unadmitted_(
          m.gauge(prefix + "unadmitted_workloads", "Workloads that are neither admitted nor finished, by why.")) {}

void CensusMetrics::report(const MetricLabels& queue, const MetricLabels& more, const MetricLabels& where,
                           const engine::QueueCensus& census) {
  const MetricLabels labels = joined(queue, more);
  if (!divided_) {
    pending_.set(joined(labels, {{"status", "active"}}), static_cast<double>(census.pending.active));
    pending_.set(joined(labels, {{"status", "inadmissible"}}), static_cast<double>(census.pending.inadmissible));
  }
  auto before = std::exchange(reported_[queue], {});
  const MetricLabels whole = joined(labels, where);
  for (const auto& [why, count] : census.unadmitted) {
    MetricLabels series = joined(whole, {{"reason", why.first}, {"underlying_cause", why.second}});
    unadmitted_.set(series, static_cast<double>(count));
    before.erase(series);
    reported_[queue].insert(std::move(series));
  }
  for (const MetricLabels& series : before) unadmitted_.remove(series);
}

void CensusMetrics::forget(const MetricLabels& queue) {
  for (GaugeFamily* family : {&pending_, &unadmitted_}) family->remove(queue);
  reported_.erase(queue);
}

}  // namespace berth::controller
