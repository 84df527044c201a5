// Where cluster queues stand in the tree of cohorts, and what a cohort has below it, under Kueue's names.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/metrics.h"
#include "engine/engine.h"

namespace berth::controller {

class CohortMetrics {
 public:
  CohortMetrics(Metrics& metrics, std::string role);

  // `admitted`: of every cluster queue, how many workloads are. Cohorts with none of these below them have no series.
  void refresh(const engine::Engine& engine, const std::map<std::string, std::int32_t>& admitted);

 private:
  struct Place {
    std::string parent, root;  // "" without one
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
