#include "controller/metrics.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "api/meta.h"
#include "api/resources.h"
#include "controller/metric_labels.h"
#include "controller/metric_units.h"

namespace berth::controller {
namespace {

double limit(std::string_view resource, const std::optional<Quantity>& quantity) {
  return quantity ? units(resource, to_amount(resource, *quantity)) : kUnlimited;
}

// The weighted share in thousandths. It is computed in the same order as in Kueue, so that all digits match; NaN when
// the weight is 0, as in Kueue.
double shown(const engine::FairShareStatus& share) {
  if (share.borrowed == 0) return 0;
  if (share.infinite) return std::numeric_limits<double>::quiet_NaN();
  const double weight = static_cast<double>(share.weight.numerator) / static_cast<double>(share.weight.denominator);
  return static_cast<double>(share.borrowed) * 1000 / static_cast<double>(share.lendable) / weight;
}

double shown(const engine::PastUsageStatus& usage) {
  if (usage.last) return std::numeric_limits<double>::infinity();
  return static_cast<double>(usage.score.nano_value()) / 1e9;
}

// A text that names every flavor and resource that has a series.
std::string shape_of(std::string_view cohort, const std::vector<engine::FlavorUsageStatus>& usage) {
  std::string shape(cohort);
  for (const auto& flavor : usage) {
    shape += "\n" + flavor.flavor;
    for (const auto& resource : flavor.resources) shape += " " + resource.name;
  }
  return shape;
}

void set_usage(GaugeFamily& family, const MetricLabels& whose, const std::vector<engine::FlavorUsageStatus>& usage) {
  for (const auto& flavor : usage) {
    for (const auto& resource : flavor.resources) {
      MetricLabels labels = whose;
      labels.emplace_back("flavor", flavor.flavor);
      labels.emplace_back("resource", resource.name);
      family.set(labels, units(resource.name, resource.total));
    }
  }
}

// 0.01 s, then doubling.
std::vector<double> creation_buckets() {
  std::vector<double> limits{0.01};
  while (limits.size() < 11) limits.push_back(limits.back() * 2);
  return limits;
}

}  // namespace

ControllerMetrics::ControllerMetrics(Metrics& m, ControllerMetricsOptions options)
    : options_(std::move(options)),
      custom_labels_(options_.custom_labels),
      workloads_(m, options_.role, options_.local_queues,
                 [labels = custom_labels_](const api::kueue::Workload& w) { return labels.of_workload(&w.meta); }),
      multikueue_(m, options_.role),
      census_(m, "kueue_", custom_labels_.divides_workloads()),
      local_census_(m, "kueue_local_queue_", false),
      cohorts_(m, options_.role),
      attempts_(m, options_.role),
      reserving_(m.gauge("kueue_reserving_active_workloads", "Workloads that have quota.")),
      admitted_(m.gauge("kueue_admitted_active_workloads", "Workloads that are admitted and not finished.")),
      status_(m.gauge("kueue_cluster_queue_status", "1 for the status that the queue has.")),
      share_(m.gauge("kueue_cluster_queue_weighted_share",
                     "What the queue borrows of what it can be lent, in thousandths, by weight.")),
      cohort_share_(m.gauge("kueue_cohort_weighted_share",
                            "What the cohort borrows of what it can be lent, in thousandths, by weight.")),
      local_reserving_(m.gauge("kueue_local_queue_reserving_active_workloads", "Workloads that have quota.")),
      local_admitted_(
          m.gauge("kueue_local_queue_admitted_active_workloads", "Workloads that are admitted and not finished.")),
      local_status_(m.gauge("kueue_local_queue_status", "1 for whether the queue is active.")),
      local_reservation_(m.gauge("kueue_local_queue_resource_reservation", "Quota that is reserved.")),
      local_usage_(m.gauge("kueue_local_queue_resource_usage", "Quota that admitted workloads use.")),
      local_past_usage_(
          m.gauge("kueue_local_queue_admission_fair_sharing_usage",
                  "What the queue used lately, by weights: the queue with the lowest number goes first.")),
      reservation_(m.gauge("kueue_cluster_queue_resource_reservation", "Quota that is reserved.")),
      usage_(m.gauge("kueue_cluster_queue_resource_usage", "Quota that admitted workloads use.")),
      nominal_(m.gauge("kueue_cluster_queue_nominal_quota", "The queue's own quota.")),
      borrowing_(m.gauge("kueue_cluster_queue_borrowing_limit", "What it may borrow at most.")),
      lending_(m.gauge("kueue_cluster_queue_lending_limit", "What it lends at most.")),
      classes_(m.gauge("kueue_pending_scheduling_hashes", "Classes of waiting workloads that share a verdict.")),
      never_fit_(m.gauge("berth_never_fitting_workloads",
                         "Waiting workloads that would not fit with no other workload there either.")),
      requested_(m.gauge("kueue_cluster_queue_resource_pending", "What the waiting workloads request together.")),
      skips_(m.gauge("kueue_admission_cycle_preemption_skips",
                     "Workloads with victims that others took in the last round of decisions.")),
      finished_(m.gauge("kueue_finished_workloads", "Finished workloads that exist.")),
      local_finished_(m.gauge("kueue_local_queue_finished_workloads", "Finished workloads that exist.")),
      recomputations_(m.counter("kueue_preemption_target_recomputations_total",
                                "Searches of other victims, because others took those that were found.")),
      creation_latency_(m.histogram("kueue_workload_creation_latency_seconds",
                                    "From the creation of a job to that of its workload.", creation_buckets())) {
  if (custom_labels_.divides_workloads())
    divided_ = std::make_unique<DividedGauges>(custom_labels_, options_.role,
                                               DividedGauges::Families{census_.pending(), admitted_, local_admitted_});
  cover_with_custom_labels();
}

std::vector<MetricFamily*> ControllerMetrics::of_cluster_queues() {
  return {&reserving_, &admitted_, &status_,    &share_, &reservation_, &usage_,          &nominal_,  &borrowing_,
          &lending_,   &classes_,  &requested_, &skips_, &finished_,    &recomputations_, &never_fit_};
}

std::vector<MetricFamily*> ControllerMetrics::of_local_queues() {
  return {&local_reserving_, &local_admitted_,   &local_status_,  &local_reservation_,
          &local_usage_,     &local_past_usage_, &local_finished_};
}

void ControllerMetrics::cover_with_custom_labels() {
  using Kind = CustomLabels::Kind;
  const auto cover = [this](Kind kind, const std::vector<MetricFamily*>& families,
                            const std::vector<std::string>& names) {
    for (const MetricFamily* family : families) custom_labels_.cover(kind, *family, names);
  };
  for (const auto& families :
       {of_cluster_queues(), workloads_.of_cluster_queues(), census_.families(), cohorts_.of_cluster_queues()})
    cover(Kind::kClusterQueue, families, {"cluster_queue"});
  cover(Kind::kClusterQueue, workloads_.of_preemptors(), {"preempting_cluster_queue"});
  for (const auto& families : {of_local_queues(), workloads_.of_local_queues(), local_census_.families()})
    cover(Kind::kLocalQueue, families, {"namespace", "name"});
  for (const auto& families : {cohorts_.of_cohorts(), workloads_.of_cohorts(), {&cohort_share_}})
    cover(Kind::kCohort, families, {"cohort"});
}

void ControllerMetrics::cluster_queue_gone(const std::string& name) {
  workloads_.forget_cluster_queue(name);
  multikueue_.forget_cluster_queue(name);
  drop_cluster_queue(name);
  custom_labels_.forget(CustomLabels::Kind::kClusterQueue, {name});
}

void ControllerMetrics::drop_cluster_queue(const std::string& name) {
  const MetricLabels whose{{"cluster_queue", name}};
  census_.forget(whose);
  if (divided_) divided_->forget(whose);
  for (MetricFamily* family : of_cluster_queues()) family->remove(whose);
  requested_of_.erase(name);
  overlaps_.erase(name);
  changed_cluster_queues_.erase(name);
  cluster_queues_.erase(name);
  shapes_.erase(name);
  shapes_.erase("share of " + name);
}

void ControllerMetrics::cohort_gone(const std::string& name) {
  changed_cohorts_.erase(name);
  cohort_generations_.erase(name);
  cohorts_.gone(name);
  workloads_.forget_cohort(name);
  cohort_share_.remove({{"cohort", name}});
  custom_labels_.forget(CustomLabels::Kind::kCohort, {name});
}

void ControllerMetrics::local_queue_gone(const std::string& ns, const std::string& name) {
  workloads_.forget_local_queue(ns, name);
  drop_local_queue(ns, name);
  custom_labels_.forget(CustomLabels::Kind::kLocalQueue, {ns, name});
}

void ControllerMetrics::drop_local_queue(const std::string& ns, const std::string& name) {
  const MetricLabels whose{{"name", name}, {"namespace", ns}};
  local_census_.forget(whose);
  if (divided_) divided_->forget(whose);
  for (MetricFamily* family : of_local_queues()) family->remove(whose);
  changed_local_queues_.erase({ns, name});
  local_queues_.erase({ns, name});
  shapes_.erase(api::object_key(ns, name));
}

void ControllerMetrics::refresh(const engine::Engine& engine, const Find& find, const FindQueue& queue) {
  attempts_.refresh();
  for (const std::string& name : std::exchange(changed_cluster_queues_, {}))
    refresh_cluster_queue(engine, find, queue, name);
  for (const std::string& name : std::exchange(changed_cohorts_, {})) refresh_cohort(engine, find, name);
  for (const auto& [ns, name] : std::exchange(changed_local_queues_, {})) {
    if (options_.local_queues) refresh_local_queue(engine, find, ns, name);
  }
  refresh_tree(engine, find);
  report_census(engine);
  report_finished();
  if (divided_) report_divided(engine);
}

void ControllerMetrics::refresh_tree(const engine::Engine& engine, const Find& find) {
  std::map<std::string, std::int32_t> admitted;
  for (const auto& [name, state] : cluster_queues_) admitted[name] = state.admitted;
  const auto is_stored = [&](const std::string& cohort) { return find(api::kCohorts, "", cohort) != nullptr; };
  for (const std::string& name : cohorts_.refresh(engine, admitted, is_stored)) workloads_.forget_cohort(name);
}

void ControllerMetrics::report_divided(const engine::Engine& engine) {
  std::set<std::string> cluster_queues;
  for (const auto& [name, state] : cluster_queues_) cluster_queues.insert(name);
  std::set<std::pair<std::string, std::string>> local_queues;
  for (const auto& [key, cluster_queue] : local_queues_) local_queues.insert(key);
  divided_->report(engine, cluster_queues, local_queues);
}

// When a workload is parked or woken, or waits for another reason, the queue does not change and is not reported as
// changed. So all queues are asked.
void ControllerMetrics::report_census(const engine::Engine& engine) {
  const MetricLabels role{{"replica_role", options_.role}};
  for (const auto& [name, state] : cluster_queues_) {
    const auto census = engine.cluster_queue_census(name);
    if (!census) continue;
    census_.report({{"cluster_queue", name}}, role, {}, *census);
    report_classes(name, *census);
    never_fit_.set(joined({{"cluster_queue", name}}, role), static_cast<double>(census->never_fit));
    if (options_.cluster_queue_resources) report_requested(name, *census);
    report_overlaps(name, census->overlaps);
  }
  for (const auto& [key, cluster_queue] : local_queues_) {
    const auto& [ns, name] = key;
    const auto census = engine.local_queue_census(ns, name);
    if (census)
      local_census_.report({{"name", name}, {"namespace", ns}}, role, {{"cluster_queue", cluster_queue}}, *census);
  }
}

void ControllerMetrics::report_classes(const std::string& queue, const engine::QueueCensus& census) {
  if (!census.classes) return;
  for (const auto& [status, count] :
       {std::pair("active", census.classes->active), std::pair("inadmissible", census.classes->inadmissible)})
    classes_.set({{"cluster_queue", queue}, {"status", status}, {"replica_role", options_.role}},
                 static_cast<double>(count));
}

void ControllerMetrics::report_requested(const std::string& queue, const engine::QueueCensus& census) {
  std::set<std::string>& reported = requested_of_[queue];
  for (const std::string& resource : std::exchange(reported, {})) {
    if (!census.requested.contains(resource)) requested_.remove({{"cluster_queue", queue}, {"resource", resource}});
  }
  for (const auto& [resource, amount] : census.requested) {
    requested_.set({{"cluster_queue", queue}, {"resource", resource}, {"replica_role", options_.role}},
                   units(resource, amount));
    reported.insert(resource);
  }
}

// An engine counts from its beginning; a checkpoint of the journal makes another one.
void ControllerMetrics::report_overlaps(const std::string& queue, const engine::QueueCensus::Overlaps& now) {
  skips_.set({{"cluster_queue", queue}, {"replica_role", options_.role}}, static_cast<double>(now.skips));
  const engine::QueueCensus::Overlaps before = std::exchange(overlaps_[queue], now);
  const auto add = [&](const char* result, std::uint64_t then, std::uint64_t count) {
    const std::uint64_t more = count < then ? count : count - then;
    if (more == 0) return;
    recomputations_.add({{"cluster_queue", queue}, {"result", result}, {"replica_role", options_.role}},
                        static_cast<double>(more));
  };
  add("new_targets", before.new_targets, now.new_targets);
  add("deferred_fit", before.deferred_fit, now.deferred_fit);
  add("skipped", before.skipped, now.skipped);
}

void ControllerMetrics::report_finished() {
  for (const auto& [name, state] : cluster_queues_)
    finished_.set({{"cluster_queue", name}, {"replica_role", options_.role}},
                  static_cast<double>(finished_workloads_.in_cluster_queue(name)));
  for (const auto& [key, cluster_queue] : local_queues_)
    local_finished_.set(
        {{"name", key.second}, {"namespace", key.first}, {"replica_role", options_.role}},
        static_cast<double>(finished_workloads_.in_local_queue(api::object_key(key.first, key.second))));
}

void ControllerMetrics::workload_created(const std::string& job_kind, Duration after_job) {
  creation_latency_.observe({{"job_kind", job_kind}, {"replica_role", options_.role}},
                            std::max(0.0, std::chrono::duration<double>(after_job).count()));
}

void ControllerMetrics::refresh_cluster_queue(const engine::Engine& engine, const Find& find, const FindQueue& queue,
                                              const std::string& name) {
  const MetricLabels whose{{"cluster_queue", name}};
  const JsonPtr object = find(api::kClusterQueues, "", name);
  if (object) custom_labels_.report(CustomLabels::Kind::kClusterQueue, {name}, *object);
  const auto status = engine.cluster_queue_status(name);
  if (!object || !status) return drop_cluster_queue(name);
  const QueueState now{int_at(*object, {"metadata", "generation"}), status->reserving, status->admitted};
  if (std::exchange(cluster_queues_[name], now) != now)
    cohorts_.changed(std::string(string_at(*object, {"spec", "cohortName"})));
  const MetricLabels labels{{"cluster_queue", name}, {"replica_role", options_.role}};
  reserving_.set(labels, status->reserving);
  if (!divided_) admitted_.set(labels, status->admitted);
  const bool terminating = find_path(*object, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::string_view is = terminating ? "terminating" : status->active ? "active" : "pending";
  for (const char* each : {"active", "pending", "terminating"})
    status_.set({{"cluster_queue", name}, {"status", each}, {"replica_role", options_.role}}, is == each ? 1 : 0);
  if (!options_.cluster_queue_resources) return;
  if (status->fair_share) {
    const std::string cohort(string_at(*object, {"spec", "cohortName"}));
    if (reshaped("share of " + name, cohort)) share_.remove(whose);
    share_.set({{"cluster_queue", name}, {"cohort", cohort}, {"replica_role", options_.role}},
               shown(*status->fair_share));
  }
  if (const auto decoded = queue(name)) set_quotas(*decoded, *status);
}

void ControllerMetrics::refresh_cohort(const engine::Engine& engine, const Find& find, const std::string& name) {
  const JsonPtr object = find(api::kCohorts, "", name);
  if (!object) return cohort_gone(name);
  custom_labels_.report(CustomLabels::Kind::kCohort, {name}, *object);
  const std::int64_t generation = int_at(*object, {"metadata", "generation"});
  const auto known = cohort_generations_.find(name);
  if (known == cohort_generations_.end() || known->second != generation) cohorts_.changed(name);
  cohort_generations_[name] = generation;
  const auto status = engine.cohort_status(name);
  if (!status || !status->fair_share) return cohort_share_.remove({{"cohort", name}});
  cohort_share_.set({{"cohort", name}, {"replica_role", options_.role}}, shown(*status->fair_share));
}

void ControllerMetrics::set_quotas(const api::kueue::ClusterQueue& queue, const engine::ClusterQueueStatus& status) {
  if (reshaped(queue.meta.name, shape_of(queue.cohort_name, status.usage))) {
    for (GaugeFamily* family : {&reservation_, &usage_, &nominal_, &borrowing_, &lending_})
      family->remove({{"cluster_queue", queue.meta.name}});
  }
  const MetricLabels whose{
      {"cluster_queue", queue.meta.name}, {"cohort", queue.cohort_name}, {"replica_role", options_.role}};
  set_usage(reservation_, whose, status.reservation);
  set_usage(usage_, whose, status.usage);
  for (const auto& group : queue.resource_groups) {
    for (const auto& flavor : group.flavors) {
      for (const auto& quota : flavor.resources) {
        MetricLabels labels = whose;
        labels.emplace_back("flavor", flavor.name);
        labels.emplace_back("resource", quota.name);
        nominal_.set(labels, units(quota.name, to_amount(quota.name, quota.nominal)));
        borrowing_.set(labels, limit(quota.name, quota.borrowing_limit));
        lending_.set(labels, limit(quota.name, quota.lending_limit));
      }
    }
  }
}

bool ControllerMetrics::reshaped(const std::string& queue, std::string shape) {
  std::string& before = shapes_[queue];
  return std::exchange(before, std::move(shape)) != before;
}

void ControllerMetrics::refresh_local_queue(const engine::Engine& engine, const Find& find, const std::string& ns,
                                            const std::string& name) {
  const MetricLabels whose{{"name", name}, {"namespace", ns}};
  const std::string key = api::object_key(ns, name);
  const auto status = engine.local_queue_status(ns, name);
  const JsonPtr object = find(api::kLocalQueues, ns, name);
  if (object && !options_.reports_local_queue(object_at(*object, {"metadata", "labels"})))
    return local_queue_gone(ns, name);
  if (object) custom_labels_.report(CustomLabels::Kind::kLocalQueue, {ns, name}, *object);
  if (!status || !object) return drop_local_queue(ns, name);
  if (reshaped(key, shape_of({}, status->usage))) {
    for (GaugeFamily* family : {&local_reservation_, &local_usage_}) family->remove(whose);
  }
  local_queues_[{ns, name}] = string_at(*object, {"spec", "clusterQueue"});
  const MetricLabels labels{{"name", name}, {"namespace", ns}, {"replica_role", options_.role}};
  local_reserving_.set(labels, status->reserving);
  if (!divided_) local_admitted_.set(labels, status->admitted);
  set_usage(local_reservation_, labels, status->reservation);
  set_usage(local_usage_, labels, status->usage);
  if (status->past_usage) {
    local_past_usage_.set({{"name", name},
                           {"namespace", ns},
                           {"cluster_queue", local_queues_[{ns, name}]},
                           {"replica_role", options_.role}},
                          shown(*status->past_usage));
  }
  for (const char* each : {"True", "False", "Unknown"}) {
    const bool now = std::string_view(each) == (status->active ? "True" : "False");
    local_status_.set({{"name", name}, {"namespace", ns}, {"active", each}, {"replica_role", options_.role}},
                      now ? 1 : 0);
  }
}

}  // namespace berth::controller
