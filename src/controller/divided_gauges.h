// The gauges that labels of workloads divide (KEP-7066, sourceKind Workload): pending and admitted workloads of cluster
// queues, and admitted workloads of local queues.
//
// Each queue has a series for workloads without the labels, and one for each combination of values that its workloads
// have. Setting them walks over all workloads.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/metrics.h"
#include "controller/custom_labels.h"
#include "engine/engine.h"

namespace berth::controller {

class DividedGauges {
 public:
  struct Families {
    GaugeFamily pending, admitted, local_admitted;
  };
  // Every series has the label replica_role=`role`.
  DividedGauges(CustomLabels labels, std::string role, Families families);

  // `local_queues`: namespace, name.
  void report(const engine::Engine& engine, const std::set<std::string>& cluster_queues,
              const std::set<std::pair<std::string, std::string>>& local_queues);
  // The series of these queues are gone.
  void forget(const MetricLabels& queue) { reported_.erase(queue); }

 private:
  struct Count {
    std::int64_t active = 0, inadmissible = 0, admitted = 0;
  };
  using Parts = std::map<MetricLabels, Count>;  // by the labels of the workloads

  void report_cluster_queue(const MetricLabels& queue, const Parts& parts);
  void report_local_queue(const MetricLabels& queue, const Parts& parts);
  // Notes the parts that have series now. Returns those that had some.
  std::set<MetricLabels> gone_since(const MetricLabels& queue, const Parts& now);

  CustomLabels labels_;
  std::string role_;
  Families families_;
  std::map<MetricLabels, std::set<MetricLabels>> reported_;  // by queue: the parts that have series
};

}  // namespace berth::controller
