#include "controller/cohort_metrics.h"

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
      reserved_(m.gauge("kueue_cohort_subtree_resource_reservations",
                        "Quota that is reserved below it, as far as it counts here.")) {}

std::vector<std::string> CohortMetrics::refresh(const engine::Engine& engine,
                                                const std::map<std::string, std::int32_t>& admitted) {
  std::map<std::string, Place> queues;
  std::map<std::string, Cohort> cohorts;
  for (const auto& [name, count] : admitted) {
    const std::vector<std::string> above = engine.cohorts_above(name);
    Place& place = queues[name];
    if (!above.empty()) place = {above.front(), above.back()};
    for (std::size_t i = 0; i < above.size(); ++i) {
      Cohort& cohort = cohorts[above[i]];
      cohort.place = {i + 1 < above.size() ? above[i + 1] : "", above.back()};
      cohort.admitted += count;
    }
    const auto before = queues_.find(name);
    if (before == queues_.end() || before->second != place) tell_place(queue_info_, "cluster_queue", name, place);
  }
  for (const auto& [name, place] : queues_) {
    if (!queues.contains(name)) queue_info_.remove({{"cluster_queue", name}});
  }
  for (auto& [name, cohort] : cohorts) {
    const auto before = cohorts_.find(name);
    tell_cohort(engine, name, cohort, before == cohorts_.end() ? nullptr : &before->second);
  }
  std::vector<std::string> gone;
  for (const auto& [name, cohort] : cohorts_) {
    if (cohorts.contains(name)) continue;
    gone.push_back(name);
    for (MetricFamily* family : of_cohorts()) family->remove({{"cohort", name}});
  }
  queues_ = std::move(queues);
  cohorts_ = std::move(cohorts);
  return gone;
}

void CohortMetrics::tell_place(GaugeFamily& family, const char* label, const std::string& name, const Place& place) {
  family.remove({{label, name}});
  family.set({{label, name}, {"parent_cohort", place.parent}, {"root_cohort", place.root}, {"replica_role", role_}}, 1);
}

void CohortMetrics::tell_cohort(const engine::Engine& engine, const std::string& name, Cohort& now,
                                const Cohort* before) {
  if (before == nullptr || before->place != now.place) tell_place(cohort_info_, "cohort", name, now.place);
  admitted_.set({{"cohort", name}, {"replica_role", role_}}, static_cast<double>(now.admitted));
  const std::vector<engine::SubtreeQuota> quotas = engine.cohort_quotas(name);
  for (const auto& one : quotas) now.shape += "\n" + one.flavor + " " + one.resource;
  if (before != nullptr && before->shape != now.shape) {
    for (GaugeFamily* family : {&quota_, &reserved_}) family->remove({{"cohort", name}});
  }
  for (const auto& one : quotas) {
    const MetricLabels labels{
        {"cohort", name}, {"flavor", one.flavor}, {"resource", one.resource}, {"replica_role", role_}};
    quota_.set(labels, units(one.resource, one.quota));
    reserved_.set(labels, units(one.resource, one.reserved));
  }
}

}  // namespace berth::controller
