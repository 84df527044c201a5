#include "controller/cohort_metrics.h"

#include <utility>

#include "controller/metric_labels.h"
#include "controller/metric_units.h"

namespace berth::controller {

CohortMetrics::CohortMetrics(Metrics& m, std::string role)
    : role_(std::move(role)),
      queue_info_(m.gauge("kueue_cluster_queue_info", "Where the queue stands in the tree of cohorts; always 1.")),
      cohort_info_(m.gauge("kueue_cohort_info", "Where the cohort stands in the tree of cohorts; always 1.")),
      admitted_(m.gauge("kueue_cohort_subtree_admitted_active_workloads",
                        "Workloads below it that are admitted and not finished.")),
      quota_(
          m.gauge("kueue_cohort_subtree_quota", "Nominal quota of the cohort and all below it, as far as it is lent.")),
      reserved_(m.gauge("kueue_cohort_subtree_resource_reservations", "Quota that is reserved below it.")) {}

void CohortMetrics::gone(const std::string& name) {
  for (MetricFamily* family : of_cohorts()) family->remove({{"cohort", name}});
  cohorts_.erase(name);
  silent_.insert(name);
}

void CohortMetrics::end_silence(const Places& places) {
  for (const std::string& name : std::exchange(changed_, {})) {
    for (auto at = places.find(name); at != places.end(); at = places.find(at->second.parent)) silent_.erase(at->first);
  }
  std::erase_if(silent_, [&](const std::string& name) { return !places.contains(name); });
}

CohortMetrics::Places CohortMetrics::refresh_queues(const engine::Engine& engine,
                                                    const std::map<std::string, std::int32_t>& admitted,
                                                    std::map<std::string, Cohort>& cohorts) {
  Places queues;
  for (const auto& [name, count] : admitted) {
    const std::vector<std::string> above = engine.cohorts_above(name);
    Place& place = queues[name];
    if (!above.empty()) place = {above.front(), above.back()};
    for (const std::string& cohort : above) cohorts[cohort].admitted += count;
    const auto before = queues_.find(name);
    if (before == queues_.end() || before->second != place) report_place(queue_info_, "cluster_queue", name, place);
  }
  for (const auto& [name, place] : queues_) {
    if (!queues.contains(name)) queue_info_.remove({{"cluster_queue", name}});
  }
  return queues;
}

std::vector<std::string> CohortMetrics::refresh(const engine::Engine& engine,
                                                const std::map<std::string, std::int32_t>& admitted,
                                                const std::function<bool(const std::string&)>& is_stored) {
  const Places places = engine.cohorts();
  end_silence(places);
  std::map<std::string, Cohort> cohorts;
  queues_ = refresh_queues(engine, admitted, cohorts);
  for (const auto& [name, place] : places) {
    if (!is_stored(name)) continue;
    for (auto at = places.find(name); at != places.end(); at = places.find(at->second.parent)) cohorts[at->first];
  }
  std::erase_if(cohorts,
                [&](const auto& each) { return silent_.contains(each.first) || !places.contains(each.first); });
  for (auto& [name, cohort] : cohorts) {
    cohort.place = places.at(name);
    const auto before = cohorts_.find(name);
    report_cohort(engine, name, cohort, before == cohorts_.end() ? nullptr : &before->second);
  }
  std::vector<std::string> gone;
  for (const auto& [name, cohort] : cohorts_) {
    if (cohorts.contains(name)) continue;
    gone.push_back(name);
    for (MetricFamily* family : of_cohorts()) family->remove({{"cohort", name}});
  }
  cohorts_ = std::move(cohorts);
  return gone;
}

void CohortMetrics::report_place(GaugeFamily& family, const char* label, const std::string& name, const Place& place) {
  family.remove({{label, name}});
  family.set({{label, name}, {"parent_cohort", place.parent}, {"root_cohort", place.root}, {"replica_role", role_}}, 1);
}

// Amounts of zero have no series, as in Kueue.
void CohortMetrics::report_amount(GaugeFamily& family, const std::string& cohort, const engine::SubtreeQuota& of,
                                  Amount amount, std::set<MetricLabels>& reported) const {
  if (amount <= Amount()) return;
  MetricLabels labels{{"cohort", cohort}, {"flavor", of.flavor}, {"resource", of.resource}};
  family.set(joined(labels, {{"replica_role", role_}}), units(of.resource, amount));
  reported.insert(std::move(labels));
}

void CohortMetrics::report_cohort(const engine::Engine& engine, const std::string& name, Cohort& now,
                                  const Cohort* before) {
  if (before == nullptr || before->place != now.place) report_place(cohort_info_, "cohort", name, now.place);
  admitted_.set({{"cohort", name}, {"replica_role", role_}}, static_cast<double>(now.admitted));
  for (const auto& one : engine.cohort_quotas(name)) {
    report_amount(quota_, name, one, one.quota, now.quotas);
    report_amount(reserved_, name, one, one.reserved, now.reserved);
  }
  if (before == nullptr) return;
  for (const MetricLabels& each : before->quotas) {
    if (!now.quotas.contains(each)) quota_.remove(each);
  }
  for (const MetricLabels& each : before->reserved) {
    if (!now.reserved.contains(each)) reserved_.remove(each);
  }
}

}  // namespace berth::controller
