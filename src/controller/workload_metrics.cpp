#include "controller/workload_metrics.h"

#include <algorithm>
#include <utility>

#include "api/kueue/slices.h"
#include "api/meta.h"
#include "controller/metric_labels.h"
#include "engine/lifecycle/words.h"

namespace berth::controller {

using api::kueue::Workload;

namespace {

bool is_true(const Workload& w, std::string_view type) { return api::is_true(w.status.conditions, type); }
bool became_true(const Workload& before, const Workload& after, std::string_view type) {
  return !is_true(before, type) && is_true(after, type);
}

Time since(const Workload& w, std::string_view type) {
  const auto* condition = api::find_condition(w.status.conditions, type);
  return condition == nullptr ? w.meta.creation : condition->last_transition;
}

// Since when it waits: since it was last requeued, or since its creation.
Time queued_at(const Workload& w) { return since(w, api::kueue::kRequeued); }

std::string cluster_queue_of(const Workload& before, const Workload& after) {
  if (after.status.admission) return after.status.admission->cluster_queue;
  return before.status.admission ? before.status.admission->cluster_queue : std::string();
}

// The preemptor's cluster queue: the last part of the preemptor's path (/cohort/queue) in the message of the
// Preempted condition. "" when the message has no path.
std::string preempting_queue(std::string_view message) {
  constexpr std::string_view kPath = "; preemptor path: ";
  const std::size_t at = message.find(kPath);
  if (at == std::string_view::npos) return {};
  std::string_view path = message.substr(at + kPath.size());
  path = path.substr(0, path.find(';'));
  return path.starts_with('/') ? std::string(path.substr(path.rfind('/') + 1)) : std::string();
}

}  // namespace

std::vector<double> wait_buckets(int count) {
  std::vector<double> limits{1};
  for (double limit = 2.5; static_cast<int>(limits.size()) < count; limit *= 2) limits.push_back(limit);
  return limits;
}

std::vector<double> default_buckets() { return {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}; }

// The labels that all metrics of a workload share, so that they are built once per change.
struct WorkloadMetrics::Subject {
  std::string cluster_queue;
  bool reports_cluster_queue, reports_local_queue;  // whether these queues exist
  std::string priority_class;
  MetricLabels in_cluster_queue, in_local_queue;
  Subject(const Workload& before, const Workload& after, const std::string& role, bool per_local_queue,
          const Queues& queues)
      : cluster_queue(cluster_queue_of(before, after)),
        // A workload that was never admitted has no cluster queue. Such workloads share one series, which stays.
        reports_cluster_queue(cluster_queue.empty() || queues.has_cluster_queue(cluster_queue)),
        reports_local_queue(per_local_queue && queues.has_local_queue(after.meta.ns, after.queue_name)),
        priority_class(after.priority_class_ref ? after.priority_class_ref->name : std::string()),
        in_cluster_queue{{"priority_class", priority_class}, {"replica_role", role}, {"cluster_queue", cluster_queue}},
        in_local_queue{{"priority_class", priority_class},
                       {"replica_role", role},
                       {"name", after.queue_name},
                       {"namespace", after.meta.ns}} {}
};

WorkloadMetrics::WorkloadMetrics(Metrics& m, std::string role, bool local_queues, OwnLabels own_labels)
    : role_(std::move(role)),
      per_local_queue_(local_queues),
      own_labels_(std::move(own_labels)),
      reserved_(counter(m, "quota_reserved_workloads_total", "Workloads that were given quota.")),
      admitted_(counter(m, "admitted_workloads_total", "Workloads that were admitted.")),
      finished_(counter(m, "finished_workloads_total", "Workloads that finished.")),
      evicted_(counter(m, "evicted_workloads_total", "Evictions of workloads.")),
      reserved_wait_(histogram(m, "quota_reserved_wait_time_seconds", "From being queued to having quota.", 14, 14)),
      admission_wait_(histogram(m, "admission_wait_time_seconds", "From being queued to being admitted.", 16, 14)),
      checks_wait_(histogram(m, "admission_checks_wait_time_seconds", "From having quota to being admitted.", 14, 14)),
      ready_wait_(histogram(m, "ready_wait_time_seconds", "From being queued to having all pods ready.", 14, 14)),
      admitted_until_ready_(histogram(m, "admitted_until_ready_wait_time_seconds",
                                      "From being admitted to having all pods ready.", 14, 14)),
      recovery_wait_(histogram(m, "workload_recovery_wait_time_seconds",
                               "From the loss of a pod to having all pods ready again.", 14, 14)),
      execution_(histogram(m, "execution_time_seconds", "While it was admitted, until it finished.", 16, 16)),
      evicted_once_(m.counter("kueue_evicted_workloads_once_total",
                              "Workloads that were evicted for a cause for the first time.")),
      preempted_(m.counter("kueue_preempted_workloads_total", "Workloads that made room for others.")),
      replaced_slices_(m.counter("kueue_replaced_workload_slices_total",
                                 "Slices of elastic jobs whose quota another slice took over.")),
      cohort_admitted_(m.counter("kueue_cohort_subtree_admitted_workloads_total",
                                 "Workloads that were admitted in the cohort and all below it.")),
      ready_to_evicted_(m.histogram("kueue_pods_ready_to_evicted_time_seconds",
                                    "From having all pods ready to being evicted.", wait_buckets(14))),
      eviction_latency_(m.histogram("kueue_workload_eviction_latency_seconds",
                                    "From being evicted to having given back the quota.", wait_buckets(14))),
      gate_removal_(m.histogram("kueue_pod_scheduling_gate_removal_seconds",
                                "From a workload's admission to the removal of a scheduling gate of its pod.",
                                default_buckets())) {}

WorkloadMetrics::Counter WorkloadMetrics::counter(Metrics& m, const std::string& name, const std::string& help) const {
  return {m.counter("kueue_" + name, help), m.counter("kueue_local_queue_" + name, help)};
}

WorkloadMetrics::Histogram WorkloadMetrics::histogram(Metrics& m, const std::string& name, const std::string& help,
                                                      int buckets, int local_buckets) const {
  return {m.histogram("kueue_" + name, help, wait_buckets(buckets)),
          m.histogram("kueue_local_queue_" + name, help, wait_buckets(local_buckets))};
}

void WorkloadMetrics::add(Counter& counter, const Subject& subject, const MetricLabels& own) {
  if (subject.reports_cluster_queue) counter.cluster_queues.add(subject.in_cluster_queue);
  if (subject.reports_local_queue) counter.local_queues.add(joined(subject.in_local_queue, own));
}

void WorkloadMetrics::observe(Histogram& histogram, const Subject& subject, Duration time, const MetricLabels& own) {
  const double seconds = std::max(0.0, std::chrono::duration<double>(time).count());
  if (subject.reports_cluster_queue) histogram.cluster_queues.observe(subject.in_cluster_queue, seconds);
  if (subject.reports_local_queue) histogram.local_queues.observe(joined(subject.in_local_queue, own), seconds);
}

void WorkloadMetrics::changed(const Workload& before, const Workload& after, const Queues& queues) {
  using namespace api::kueue;
  if (before.meta.uid != after.meta.uid) return;
  const bool now_reserved = became_true(before, after, kQuotaReserved),
             now_admitted = became_true(before, after, kAdmitted);
  const bool now_ready = became_true(before, after, kPodsReady), now_finished = became_true(before, after, kFinished);
  const bool now_preempted = became_true(before, after, kPreempted),
             now_evicted = before.status.evictions != after.status.evictions;
  const bool now_released = is_true(before, kQuotaReserved) && !is_true(after, kQuotaReserved);
  if (now_reserved || now_admitted || now_ready || now_finished || now_evicted || now_released) {
    const Subject subject(before, after, role_, per_local_queue_, queues);
    if (now_reserved) reserved(subject, before, after);
    if (now_admitted) admitted(subject, before, after, queues);
    if (now_ready) ready(subject, before, after);
    if (now_finished) finished(subject, before, after);
    if (now_evicted) evicted(subject, before, after);
    if (now_released) quota_released(subject, after);
  }
  if (now_preempted) preempted(after, queues);
}

std::vector<MetricFamily*> WorkloadMetrics::of_cluster_queues() {
  std::vector<MetricFamily*> all{&evicted_once_, &replaced_slices_, &ready_to_evicted_, &eviction_latency_,
                                 &gate_removal_};
  for (Counter* each : {&reserved_, &admitted_, &finished_, &evicted_}) all.push_back(&each->cluster_queues);
  for (Histogram* each : {&reserved_wait_, &admission_wait_, &checks_wait_, &ready_wait_, &admitted_until_ready_,
                          &recovery_wait_, &execution_})
    all.push_back(&each->cluster_queues);
  return all;
}

std::vector<MetricFamily*> WorkloadMetrics::of_local_queues() {
  std::vector<MetricFamily*> all;
  for (Counter* each : {&reserved_, &admitted_, &finished_, &evicted_}) all.push_back(&each->local_queues);
  for (Histogram* each : {&reserved_wait_, &admission_wait_, &checks_wait_, &ready_wait_, &admitted_until_ready_,
                          &recovery_wait_, &execution_})
    all.push_back(&each->local_queues);
  return all;
}

void WorkloadMetrics::forget_cluster_queue(const std::string& name) {
  for (MetricFamily* family : of_cluster_queues()) family->remove({{"cluster_queue", name}});
  preempted_.remove({{"preempting_cluster_queue", name}});
}

void WorkloadMetrics::forget_local_queue(const std::string& ns, const std::string& name) {
  for (MetricFamily* family : of_local_queues()) family->remove({{"name", name}, {"namespace", ns}});
}

void WorkloadMetrics::forget_cohort(const std::string& name) { cohort_admitted_.remove({{"cohort", name}}); }

void WorkloadMetrics::reserved(const Subject& subject, const Workload& before, const Workload& after) {
  add(reserved_, subject);
  observe(reserved_wait_, subject, since(after, api::kueue::kQuotaReserved) - queued_at(before));
}

void WorkloadMetrics::admitted(const Subject& subject, const Workload& before, const Workload& after,
                               const Queues& queues) {
  const Time at = since(after, api::kueue::kAdmitted);
  const MetricLabels own = own_labels_ ? own_labels_(after) : MetricLabels();
  add(admitted_, subject, own);
  if (subject.reports_cluster_queue && queues.cohorts_above) {
    for (const std::string& cohort : queues.cohorts_above(subject.cluster_queue))
      cohort_admitted_.add({{"cohort", cohort}, {"priority_class", subject.priority_class}, {"replica_role", role_}});
  }
  observe(admission_wait_, subject, at - queued_at(before), own);
  // In Kueue an admission that comes later than the quota counts here too, whatever it waited for.
  if (!after.status.admission_checks.empty() || is_true(before, api::kueue::kQuotaReserved))
    observe(checks_wait_, subject, at - since(after, api::kueue::kQuotaReserved));
}

// Pods that are ready again count from the loss of the first one.
void WorkloadMetrics::ready(const Subject& subject, const Workload& before, const Workload& after) {
  const auto* condition = api::find_condition(after.status.conditions, api::kueue::kPodsReady);
  if (!is_true(after, api::kueue::kAdmitted)) return;
  const Time at = since(after, api::kueue::kPodsReady);
  if (condition->reason == engine::lifecycle::reason::kRecovered) {
    const auto* lost = api::find_condition(before.status.conditions, api::kueue::kPodsReady);
    if (lost != nullptr && lost->reason == engine::lifecycle::reason::kWaitForRecovery)
      observe(recovery_wait_, subject, at - lost->last_transition);
    return;
  }
  observe(ready_wait_, subject, at - queued_at(after));
  observe(admitted_until_ready_, subject, at - since(after, api::kueue::kAdmitted));
}

void WorkloadMetrics::finished(const Subject& subject, const Workload& before, const Workload& after) {
  if (subject.reports_cluster_queue) finished_.cluster_queues.add(subject.in_cluster_queue);
  if (subject.reports_local_queue && after.status.admission) finished_.local_queues.add(subject.in_local_queue);
  // The ones that the job itself tidied up do not count.
  const auto* why = api::find_condition(after.status.conditions, api::kueue::kFinished);
  if (subject.reports_cluster_queue && why->reason == api::kueue::kSliceReplaced &&
      why->message.starts_with(engine::lifecycle::message::kReplacedBy))
    replaced_slices_.add({{"cluster_queue", subject.cluster_queue}, {"replica_role", role_}});
  if (!is_true(before, api::kueue::kAdmitted)) return;
  const std::chrono::seconds former(after.status.accumulated_past_execution_time_seconds.value_or(0));
  observe(execution_, subject, former + since(after, api::kueue::kFinished) - since(before, api::kueue::kAdmitted));
}

// Every eviction increments the count of its cause in the status.
void WorkloadMetrics::evicted(const Subject& subject, const Workload& before, const Workload& after) {
  if (subject.cluster_queue.empty()) return;  // it had no quota
  for (const auto& now : after.status.evictions) {
    const auto& all = before.status.evictions;
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& e) {
      return e.reason == now.reason && e.underlying_cause == now.underlying_cause;
    });
    const std::int32_t old = same == all.end() ? 0 : same->count;
    if (now.count <= old) continue;
    const MetricLabels cause{{"reason", now.reason}, {"underlying_cause", now.underlying_cause}};
    const auto with_cause = [&](MetricLabels labels) {
      labels.insert(labels.end(), cause.begin(), cause.end());
      return labels;
    };
    if (subject.reports_local_queue) evicted_.local_queues.add(with_cause(subject.in_local_queue), now.count - old);
    if (!subject.reports_cluster_queue) continue;
    evicted_.cluster_queues.add(with_cause(subject.in_cluster_queue), now.count - old);
    MetricLabels labels = with_cause({{"cluster_queue", subject.cluster_queue}, {"replica_role", role_}});
    if (is_true(before, api::kueue::kPodsReady)) {
      const Duration ready = since(after, api::kueue::kEvicted) - since(before, api::kueue::kPodsReady);
      ready_to_evicted_.observe(labels, std::chrono::duration<double>(ready).count());
    }
    labels.emplace_back("priority_class", subject.priority_class);
    if (old == 0) evicted_once_.add(labels);
  }
}

void WorkloadMetrics::quota_released(const Subject& subject, const Workload& after) {
  const auto* evicted = api::find_condition(after.status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr || !evicted->status || !subject.reports_cluster_queue) return;
  const Duration took = since(after, api::kueue::kQuotaReserved) - evicted->last_transition;
  eviction_latency_.observe(
      {{"cluster_queue", subject.cluster_queue}, {"reason", evicted->reason}, {"replica_role", role_}},
      std::max(0.0, std::chrono::duration<double>(took).count()));
}

void WorkloadMetrics::gate_removed(std::string_view gate, const Workload& workload, bool grouped, Time now,
                                   const Queues& queues) {
  if (!is_true(workload, api::kueue::kAdmitted) || !workload.status.admission) return;
  const std::string& queue = workload.status.admission->cluster_queue;
  if (!queues.has_cluster_queue(queue)) return;
  const Duration took = now - since(workload, api::kueue::kAdmitted);
  gate_removal_.observe({{"name", std::string(gate)},
                         {"cluster_queue", queue},
                         {"is_group", grouped ? "true" : "false"},
                         {"replica_role", role_}},
                        std::max(0.0, std::chrono::duration<double>(took).count()));
}

void WorkloadMetrics::preempted(const Workload& after, const Queues& queues) {
  const auto* condition = api::find_condition(after.status.conditions, api::kueue::kPreempted);
  const std::string queue = preempting_queue(condition->message);
  if (!queue.empty() && !queues.has_cluster_queue(queue)) return;
  preempted_.add({{"preempting_cluster_queue", queue}, {"reason", condition->reason}, {"replica_role", role_}});
}

}  // namespace berth::controller
