// The position of cluster queues in the cohort tree, and the quota and workloads below each cohort, under Kueue's
// names.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "engine/engine.h"

namespace berth::controller {

class CohortMetrics {
 public:
  CohortMetrics(Metrics& metrics, std::string role);

  // `admitted`: the number of admitted workloads of every cluster queue that has series. `is_stored`: whether there is
  // a Cohort of this name. Series have these cohorts, and all above them and above these cluster queues. Returns the
  // cohorts that lost their series.
  std::vector<std::string> refresh(const engine::Engine& engine, const std::map<std::string, std::int32_t>& admitted,
                                   const std::function<bool(const std::string&)>& is_stored);

  // The Cohort is gone, and its series with it. While others name it, it is an implicit cohort; as in Kueue, it has
  // series again as soon as it, or something below it, changed().
  void gone(const std::string& name);
  // This cohort changed, or a cluster queue in it; "": none.
  void changed(const std::string& cohort) { changed_.insert(cohort); }

  std::vector<MetricFamily*> of_cluster_queues() { return {&queue_info_}; }
  std::vector<MetricFamily*> of_cohorts() { return {&cohort_info_, &admitted_, &quota_, &reserved_}; }

 private:
  using Place = engine::CohortPlace;
  using Places = std::map<std::string, Place>;
  struct Cohort {
    Place place;
    std::int64_t admitted = 0;
    std::set<MetricLabels> quotas, reserved;  // their series, by flavor and resource
  };
  void end_silence(const Places& places);
  Places refresh_queues(const engine::Engine& engine, const std::map<std::string, std::int32_t>& admitted,
                        std::map<std::string, Cohort>& cohorts);
  void report_place(GaugeFamily& family, const char* label, const std::string& name, const Place& place);
  void report_cohort(const engine::Engine& engine, const std::string& name, Cohort& now, const Cohort* before);
  void report_amount(GaugeFamily& family, const std::string& cohort, const engine::SubtreeQuota& of, Amount amount,
                     std::set<MetricLabels>& reported) const;

  std::string role_;
  GaugeFamily queue_info_, cohort_info_, admitted_, quota_, reserved_;
  Places queues_;
  std::map<std::string, Cohort> cohorts_;
  std::set<std::string> changed_, silent_;
};

}  // namespace berth::controller
