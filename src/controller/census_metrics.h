// Gauges of a queue, under Kueue's names: the pending workloads, and the workloads that are not admitted, by reason.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "engine/engine.h"

namespace berth::controller {

class CensusMetrics {
 public:
  // `prefix`: start of the metric names, such as "kueue_local_queue_". `divided`: somebody else sets pending().
  CensusMetrics(Metrics& metrics, const std::string& prefix, bool divided);

  // Sets the gauges of one queue. `queue`: the labels that identify the queue; no other queue has them. `more`:
  // further labels of every series. `where`: further labels of the series of unadmitted workloads.
  void report(const MetricLabels& queue, const MetricLabels& more, const MetricLabels& where,
              const engine::QueueCensus& census);
  void forget(const MetricLabels& queue);
  GaugeFamily pending() const { return pending_; }
  std::vector<MetricFamily*> families() { return {&pending_, &unadmitted_}; }

 private:
  bool divided_;
  GaugeFamily pending_, unadmitted_;
  // The series of unadmitted_ by queue. tell() removes the series whose reason no longer occurs.
  std::map<MetricLabels, std::set<MetricLabels>> reported_;
};

}  // namespace berth::controller
