#include "controller/workload_metrics.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"

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

// Since when it waits: creation, or the last time it was queued again.
Time queued_at(const Workload& w) { return since(w, api::kueue::kRequeued); }

std::string cluster_queue_of(const Workload& before, const Workload& after) {
  if (after.status.admission) return after.status.admission->cluster_queue;
  return before.status.admission ? before.status.admission->cluster_queue : std::string();
}

// The last part of the preemptor's path in the message of the Preempted condition: /cohort/queue.
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

struct WorkloadMetrics::Subject {
  std::string cluster_queue, ns, local_queue, priority_class;
  Subject(const Workload& before, const Workload& after)
      : cluster_queue(cluster_queue_of(before, after)),
        ns(after.meta.ns),
        local_queue(after.queue_name),
        priority_class(after.priority_class_ref ? after.priority_class_ref->name : std::string()) {}
};

WorkloadMetrics::WorkloadMetrics(Metrics& m, std::string role, bool local_queues)
    : role_(std::move(role)),
      per_local_queue_(local_queues),
      reserved_(counter(m, "quota_reserved_workloads_total", "Workloads that were given quota.")),
      admitted_(counter(m, "admitted_workloads_total", "Workloads that were admitted.")),
      finished_(counter(m, "finished_workloads_total", "Workloads that finished.")),
      evicted_(counter(m, "evicted_workloads_total", "Evictions of workloads.")),
      reserved_wait_(histogram(m, "quota_reserved_wait_time_seconds", "From being queued to having quota.", 14, 14)),
      admission_wait_(histogram(m, "admission_wait_time_seconds", "From being queued to being admitted.", 16, 14)),
      checks_wait_(histogram(m, "admission_checks_wait_time_seconds", "From having quota to being admitted.", 14, 14)),
      ready_wait_(histogram(m, "ready_wait_time_seconds", "From being queued to having all pods ready.", 14, 14)),
      admitted_until_ready_(
          histogram(m, "admitted_until_ready_wait_time_seconds", "From being admitted to having all pods ready.", 14, 14)),
      execution_(histogram(m, "execution_time_seconds", "From being admitted to being finished.", 16, 16)),
      evicted_once_(m.counter("kueue_evicted_workloads_once_total", "Workloads that were evicted for a cause for the first time.")),
      preempted_(m.counter("kueue_preempted_workloads_total", "Workloads that made room for others.")),
      ready_to_evicted_(m.histogram("kueue_pods_ready_to_evicted_time_seconds", "From having all pods ready to being evicted.",
                                    wait_buckets(14))),
      eviction_latency_(m.histogram("kueue_workload_eviction_latency_seconds", "From being evicted to having given back the quota.",
                                    wait_buckets(14))) {}

WorkloadMetrics::Counter WorkloadMetrics::counter(Metrics& m, const std::string& name, const std::string& help) const {
  return {m.counter("kueue_" + name, help), m.counter("kueue_local_queue_" + name, help)};
}

WorkloadMetrics::Histogram WorkloadMetrics::histogram(Metrics& m, const std::string& name, const std::string& help, int buckets,
                                                      int local_buckets) const {
  return {m.histogram("kueue_" + name, help, wait_buckets(buckets)),
          m.histogram("kueue_local_queue_" + name, help, wait_buckets(local_buckets))};
}

void WorkloadMetrics::add(Counter& counter, const Subject& subject, const MetricLabels& more, double amount) {
  MetricLabels labels{{"priority_class", subject.priority_class}, {"replica_role", role_}};
  labels.insert(labels.end(), more.begin(), more.end());
  labels.emplace_back("cluster_queue", subject.cluster_queue);
  counter.cluster_queues.add(labels, amount);
  if (!per_local_queue_) return;
  labels.pop_back();
  labels.emplace_back("name", subject.local_queue);
  labels.emplace_back("namespace", subject.ns);
  counter.local_queues.add(labels, amount);
}

void WorkloadMetrics::observe(Histogram& histogram, const Subject& subject, Duration time) {
  const double seconds = std::max(0.0, std::chrono::duration<double>(time).count());
  MetricLabels labels{{"priority_class", subject.priority_class}, {"replica_role", role_}};
  labels.emplace_back("cluster_queue", subject.cluster_queue);
  histogram.cluster_queues.observe(labels, seconds);
  if (!per_local_queue_) return;
  labels.pop_back();
  labels.emplace_back("name", subject.local_queue);
  labels.emplace_back("namespace", subject.ns);
  histogram.local_queues.observe(labels, seconds);
}

void WorkloadMetrics::changed(const Workload& before, const Workload& after) {
  using namespace api::kueue;
  if (before.meta.uid != after.meta.uid) return;
  if (became_true(before, after, kQuotaReserved)) reserved(before, after);
  if (became_true(before, after, kAdmitted)) admitted(before, after);
  if (became_true(before, after, kPodsReady)) ready(before, after);
  if (became_true(before, after, kFinished)) finished(before, after);
  if (became_true(before, after, kPreempted)) preempted(after);
  evicted(before, after);
  if (is_true(before, kQuotaReserved) && !is_true(after, kQuotaReserved)) quota_released(before, after);
}

void WorkloadMetrics::reserved(const Workload& before, const Workload& after) {
  const Subject subject(before, after);
  add(reserved_, subject);
  observe(reserved_wait_, subject, since(after, api::kueue::kQuotaReserved) - queued_at(before));
}

void WorkloadMetrics::admitted(const Workload& before, const Workload& after) {
  const Subject subject(before, after);
  const Time at = since(after, api::kueue::kAdmitted);
  add(admitted_, subject);
  observe(admission_wait_, subject, at - queued_at(before));
  if (!after.status.admission_checks.empty()) observe(checks_wait_, subject, at - since(after, api::kueue::kQuotaReserved));
}

void WorkloadMetrics::ready(const Workload& before, const Workload& after) {
  if (!is_true(after, api::kueue::kAdmitted)) return;
  const Subject subject(before, after);
  const Time at = since(after, api::kueue::kPodsReady);
  observe(ready_wait_, subject, at - queued_at(after));
  observe(admitted_until_ready_, subject, at - since(after, api::kueue::kAdmitted));
}

void WorkloadMetrics::finished(const Workload& before, const Workload& after) {
  const Subject subject(before, after);
  add(finished_, subject);
  if (is_true(before, api::kueue::kAdmitted))
    observe(execution_, subject, since(after, api::kueue::kFinished) - since(before, api::kueue::kAdmitted));
}

// Every eviction adds one to the count of its cause in the status.
void WorkloadMetrics::evicted(const Workload& before, const Workload& after) {
  for (const auto& now : after.status.evictions) {
    const auto& all = before.status.evictions;
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& e) {
      return e.reason == now.reason && e.underlying_cause == now.underlying_cause;
    });
    const std::int32_t old = same == all.end() ? 0 : same->count;
    if (now.count <= old) continue;
    const Subject subject(before, after);
    const MetricLabels cause{{"reason", now.reason}, {"underlying_cause", now.underlying_cause}};
    add(evicted_, subject, cause, now.count - old);
    MetricLabels labels{{"cluster_queue", subject.cluster_queue}, {"replica_role", role_}};
    labels.insert(labels.end(), cause.begin(), cause.end());
    if (is_true(before, api::kueue::kPodsReady)) {
      const Duration ready = since(after, api::kueue::kEvicted) - since(before, api::kueue::kPodsReady);
      ready_to_evicted_.observe(labels, std::chrono::duration<double>(ready).count());
    }
    labels.emplace_back("priority_class", subject.priority_class);
    if (old == 0) evicted_once_.add(labels);
  }
}

void WorkloadMetrics::quota_released(const Workload& before, const Workload& after) {
  const auto* evicted = api::find_condition(after.status.conditions, api::kueue::kEvicted);
  if (evicted == nullptr || !evicted->status) return;
  const Duration took = since(after, api::kueue::kQuotaReserved) - evicted->last_transition;
  eviction_latency_.observe(
      {{"cluster_queue", cluster_queue_of(before, after)}, {"reason", evicted->reason}, {"replica_role", role_}},
      std::max(0.0, std::chrono::duration<double>(took).count()));
}

void WorkloadMetrics::preempted(const Workload& after) {
  const auto* condition = api::find_condition(after.status.conditions, api::kueue::kPreempted);
  preempted_.add({{"preempting_cluster_queue", preempting_queue(condition->message)},
                  {"reason", condition->reason},
                  {"replica_role", role_}});
}

}  // namespace berth::controller
