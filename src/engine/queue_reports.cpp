#include "engine/queue_reports.h"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::engine {

using api::kueue::ClusterQueue;

namespace {

using Totals = std::map<std::pair<std::string, std::string>, Amount>;  // (flavor, resource)

struct UsageTotals {
  Totals reservation, usage;
};

UsageTotals totals_of(const HeldSums::OfQueue& sums) {
  UsageTotals out;
  for (const auto& each : sums.totals) {
    out.reservation[{each.flavor, each.resource}] = to_amount(each.reserved);
    out.usage[{each.flavor, each.resource}] = to_amount(each.used);
  }
  return out;
}

void add_the_rest(const ClusterQueue& queue, const Totals& totals, std::vector<FlavorUsageStatus>& out) {
  const std::string& flavor = queue.terms.flavor_of_the_rest;
  if (flavor.empty()) return;
  auto entry = std::ranges::find(out, flavor, &FlavorUsageStatus::flavor);
  if (entry == out.end()) entry = out.insert(out.end(), FlavorUsageStatus{flavor, {}});
  for (const auto& [pair, total] : totals) {
    const auto& [used_flavor, resource] = pair;
    if (used_flavor == flavor &&
        std::ranges::find(entry->resources, resource, &FlavorUsageStatus::Resource::name) == entry->resources.end())
      entry->resources.push_back({resource, total, Amount()});
  }
}

// One entry for every flavor and resource the queue defines, in its order; then other resources counted in
// flavor_of_the_rest.
std::vector<FlavorUsageStatus> usage_status(const ClusterQueue& queue, const Totals& totals, bool may_borrow) {
  std::vector<FlavorUsageStatus> out;
  for (const auto& group : queue.resource_groups) {
    for (const auto& flavor : group.flavors) {
      FlavorUsageStatus entry{flavor.name, {}};
      for (const auto& quota : flavor.resources) {
        const auto it = totals.find({flavor.name, quota.name});
        const Amount total = it == totals.end() ? Amount() : it->second;
        const Amount over = max(Amount(), total - to_amount(quota.name, quota.nominal));
        entry.resources.push_back({quota.name, total, may_borrow ? over : Amount()});
      }
      out.push_back(std::move(entry));
    }
  }
  add_the_rest(queue, totals, out);
  return out;
}

}  // namespace

void QueueReports::touch(const Tracked& t) {
  if (!t.local_queue.empty()) touched_.local_queues.insert(t.local_queue);
  if (!t.cluster_queue.empty()) touched_.cluster_queues.insert(t.cluster_queue);
}

void QueueReports::touch_local_queues_of(std::string_view cluster_queue) {
  const auto& local_queues = facts_.registries.local_queues_of(cluster_queue);
  touched_.local_queues.insert(local_queues.begin(), local_queues.end());
}

// A change of a quota or weight also changes what other nodes can be lent.
void QueueReports::touch_shares() {
  if (!facts_.options.fair_sharing.enabled) return;
  for (const auto& [name, queue] : facts_.registries.cluster_queues) touched_.cluster_queues.insert(name);
  for (const auto& [name, cohort] : facts_.registries.cohorts) touched_.cohorts.insert(name);
}

// The usage of a queue is part of the fair share of every cohort above it.
void QueueReports::touch_cohorts_of(std::string_view cluster_queue) {
  const Ledger& ledger = scheduler_.ledger();
  const QuotaNodeId queue = ledger.find_cluster_queue(cluster_queue);
  if (!queue.valid()) return;
  for (QuotaNodeId cohort = ledger.parent(queue); cohort.valid(); cohort = ledger.parent(cohort)) {
    if (!touched_.cohorts.insert(ledger.name(cohort)).second) return;  // the cohorts above it were touched with it
  }
}

void QueueReports::emit(Effects& out) {
  for (const auto& name : std::exchange(touched_.cluster_queues, {})) {
    if (facts_.registries.cluster_queue(name) != nullptr) out.push_back(ClusterQueueStatusChanged{name});
    if (facts_.options.fair_sharing.enabled) touch_cohorts_of(name);
  }
  for (const auto& name : std::exchange(touched_.cohorts, {})) {
    if (facts_.registries.cohorts.contains(name)) out.push_back(CohortStatusChanged{name});
  }
  for (const auto& key : std::exchange(touched_.local_queues, {})) {
    if (const auto* queue = facts_.registries.local_queue(key))
      out.push_back(LocalQueueStatusChanged{queue->meta.ns, queue->meta.name});
  }
}

std::optional<FairShareStatus> QueueReports::fair_share(QuotaNodeId node) const {
  if (!facts_.options.fair_sharing.enabled) return std::nullopt;
  const FairShare share = node.valid() ? scheduler_.fair_share(node) : FairShare();
  return FairShareStatus{share.weighted_share(), share.borrowed(), share.lendable(), share.weight(), share.infinite()};
}

std::optional<ClusterQueueStatus> QueueReports::cluster_queue(std::string_view name) const {
  const auto* queue = facts_.registries.cluster_queue(name);
  if (queue == nullptr) return std::nullopt;
  const auto& held = workloads_.totals().held_in_cluster_queue(name);
  const UsageTotals totals = totals_of(held);
  const Activity& activity = facts_.registries.activity(*queue);
  ClusterQueueStatus out{activity.active, activity.reason, activity.message, {}, {}, 0, held.reserving, held.admitted};
  out.reservation = usage_status(*queue, totals.reservation, !queue->cohort_name.empty());
  out.usage = usage_status(*queue, totals.usage, !queue->cohort_name.empty());
  out.pending = static_cast<std::int32_t>(scheduler_.pending_count(name));
  out.fair_share = fair_share(scheduler_.ledger().find_cluster_queue(name));
  return out;
}

std::optional<CohortStatus> QueueReports::cohort(std::string_view name) const {
  if (!facts_.registries.cohorts.contains(name)) return std::nullopt;
  return CohortStatus{fair_share(scheduler_.ledger().find_cohort(name))};
}

std::optional<PastUsageStatus> QueueReports::past_usage(std::string_view local_queue) const {
  const UsageBook::Sample* sample = scheduler_.usage_sample(local_queue);
  if (sample == nullptr) return std::nullopt;
  PastUsageStatus out{{}, sample->at, to_quantity(sample->score), sample->score.last};
  for (const auto& each : sample->used)
    out.consumed[scheduler_.usage().name(each.resource)] = Quantity::of_nano(static_cast<Quantity::Nano>(each.amount));
  return out;
}

std::optional<LocalQueueStatus> QueueReports::local_queue(const std::string& key) const {
  const auto* queue = facts_.registries.local_queue(key);
  if (queue == nullptr) return std::nullopt;
  const auto& held = workloads_.totals().held_in_local_queue(key);
  const auto pending = static_cast<std::int32_t>(scheduler_.pending_count(queue->cluster_queue, key));
  const Activity activity = facts_.registries.activity(*queue);
  LocalQueueStatus out{activity.active, activity.reason, activity.message, {}, {},
                       pending,         held.reserving,  held.admitted};
  if (const auto* cq = facts_.registries.cluster_queue(queue->cluster_queue)) {
    const UsageTotals totals = totals_of(held);
    out.reservation = usage_status(*cq, totals.reservation, false);
    out.usage = usage_status(*cq, totals.usage, false);
  }
  out.past_usage = past_usage(key);
  return out;
}

}  // namespace berth::engine
