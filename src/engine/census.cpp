#include "engine/census.h"

#include <memory>
#include <utility>

#include "engine/lifecycle/words.h"
#include "engine/workload_views.h"

namespace berth::engine {

namespace {

std::string reason_when_false(const api::kueue::WorkloadStatus& status, std::string_view type,
                              std::string_view otherwise) {
  const auto* condition = api::find_condition(status.conditions, type);
  return std::string(condition != nullptr && !condition->status ? std::string_view(condition->reason) : otherwise);
}

// Without quota: NoReservation and the reason of QuotaReserved=False. With quota: the reason of Admitted=False alone.
QueueCensus::Why why_unadmitted(const api::kueue::WorkloadStatus& status) {
  using namespace lifecycle;
  if (api::is_true(status.conditions, api::kueue::kQuotaReserved))
    return {reason_when_false(status, api::kueue::kAdmitted, reason::kUnsatisfiedChecks), ""};
  return {std::string(reason::kNoReservation),
          reason_when_false(status, api::kueue::kQuotaReserved, reason::kPendingEvaluation)};
}

}  // namespace

std::optional<QueueCensus::Why> Census::why(const Tracked& t) const {
  const auto& status = t.now.status();
  if (!facts_.options.unadmitted_observability || api::is_true(status.conditions, api::kueue::kFinished) ||
      api::is_true(status.conditions, api::kueue::kAdmitted))
    return std::nullopt;
  return why_unadmitted(status);
}

void Census::recount(Tracked& t) { workloads_.totals().count(t, why(t)); }

Ptr<RequestedPods> Census::asked(const Tracked& t) const {
  if (!scheduler_.pending(t.id)) return nullptr;
  const auto& reclaimable = t.now.status().reclaimable_pods;
  if (!t.requests || reclaimable.empty() || !facts_.options.reclaimable_pods) return t.requests;
  RequestedPods rest = *t.requests;
  rest.pod_sets = without_reclaimed(rest.pod_sets, reclaimable);
  return std::make_shared<const RequestedPods>(std::move(rest));
}

void Census::count_held(Tracked& t) {
  workloads_.totals().wait(t, asked(t));
  const auto* holding = holding_status(t);
  if (holding == nullptr) return workloads_.totals().hold(t, nullptr);
  const HeldAmounts held{amounts_held(*holding->admission, *t.now, facts_.options),
                         api::is_true(holding->conditions, api::kueue::kAdmitted)};
  workloads_.totals().hold(t, &held);
}

PendingCounts Census::pending(std::string_view cluster_queue) const {
  const std::size_t all = scheduler_.pending_count(cluster_queue);
  const std::size_t inadmissible = scheduler_.inadmissible_count(cluster_queue);
  return {all - inadmissible, inadmissible};
}

std::optional<QueueCensus> Census::of_cluster_queue(std::string_view name) const {
  const auto* queue = facts_.registries.cluster_queue(name);
  if (queue == nullptr) return std::nullopt;
  QueueCensus out{pending(name), workloads_.totals().counts_of_cluster_queue(name), {}};
  for (const auto& group : queue->resource_groups) {
    for (const std::string& resource : group.covered_resources) out.requested.emplace(resource, Amount());
  }
  for (const auto& [resource, total] : workloads_.totals().asked_in_cluster_queue(name))
    out.requested.insert_or_assign(resource, to_amount(total.sum));
  const OverlapCounts overlaps = scheduler_.overlap_counts(name);
  out.overlaps = {overlaps.skips, overlaps.new_targets, overlaps.deferred_fit, overlaps.skipped};
  out.never_fit = scheduler_.never_fit_count(name);
  if (facts_.options.scheduling_equivalence_hashing) {
    const auto classes = scheduler_.class_counts(name);
    out.classes = PendingCounts{classes.active, classes.inadmissible};
  }
  return out;
}

std::optional<QueueCensus> Census::of_local_queue(const std::string& key) const {
  const auto* queue = facts_.registries.local_queue(key);
  if (queue == nullptr) return std::nullopt;
  const std::size_t all = scheduler_.pending_count(queue->cluster_queue, key);
  const std::size_t inadmissible = scheduler_.inadmissible_count(queue->cluster_queue, key);
  return QueueCensus{{all - inadmissible, inadmissible}, workloads_.totals().counts_of_local_queue(key), {}};
}

void Census::for_each_standing(const std::function<void(const WorkloadStanding&)>& visit) const {
  workloads_.for_each_in_any_order([&](const Tracked& t) {
    WorkloadStanding standing{*t.now, t.cluster_queue, t.local_queue};
    standing.reserving = t.held.has_value();
    standing.admitted = standing.reserving && t.held->admitted;
    standing.inadmissible = scheduler_.inadmissible(t.id);
    standing.active = !standing.inadmissible && scheduler_.pending(t.id);
    visit(standing);
  });
}

}  // namespace berth::engine
