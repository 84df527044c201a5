// How many workloads of a queue wait and are not admitted, and why, under Kueue's names.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/metrics.h"
#include "engine/engine.h"

namespace berth::controller {

class CensusMetrics {
 public:
  // `prefix`: of the names, such as "kueue_local_queue_".
  CensusMetrics(Metrics& metrics, const std::string& prefix);

  // `queue`: labels that belong to nobody else. `more`: of every series; `where`: of unadmitted workloads in addition.
  void tell(const MetricLabels& queue, const MetricLabels& more, const MetricLabels& where, const engine::QueueCensus& census);
  void forget(const MetricLabels& queue);

 private:
  GaugeFamily pending_, unadmitted_;
  std::map<MetricLabels, std::set<MetricLabels>>
      told_;  // of unadmitted_, by queue: what is no reason any more is removed
};

}  // namespace berth::controller
