// The position of cluster queues in the cohort tree, and the quota and workloads below each cohort, under Kueue's
// names.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "engine/engine.h"

namespace berth::controller {

class CohortMetrics {
 public:
  CohortMetrics(Metrics& metrics, std::string role);

  // `admitted`: the number of admitted workloads of every cluster queue. A cohort has series only when one of these
  // cluster queues is below it.
  // Returns the cohorts that lost their series.
  std::vector<std::string> refresh(const engine::Engine& engine, const std::map<std::string, std::int32_t>& admitted);

  std::vector<MetricFamily*> of_cluster_queues() { return {&queue_info_}; }
  std::vector<MetricFamily*> of_cohorts() { return {&cohort_info_, &admitted_, &quota_, &reserved_}; }

 private:
  struct Place {
    std::string parent, root;  // names of cohorts; "" when there is none
    bool operator==(const Place&) const = default;
  };
  struct Cohort {
    Place place;
    std::int64_t admitted = 0;
    std::string shape;  // the flavors and resources that have series
  };
  void tell_place(GaugeFamily& family, const char* label, const std::string& name, const Place& place);
  void tell_cohort(const engine::Engine& engine, const std::string& name, Cohort& now, const Cohort* before);

  std::string role_;
  GaugeFamily queue_info_, cohort_info_, admitted_, quota_, reserved_;
  std::map<std::string, Place> queues_;
  std::map<std::string, Cohort> cohorts_;
};

}  // namespace berth::controller
