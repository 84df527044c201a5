// What the engine reports: statuses of queues, finalizers, expired workloads, the next wake-up, and the check of
// invariants.
#include <algorithm>
#include <map>
#include <span>

#include "api/meta.h"
#include "base/planted.h"
#include "engine/engine_impl.h"

namespace berth::engine {

using api::kueue::ClusterQueue;
using api::kueue::WorkloadStatus;
using lifecycle::Hold;
using lifecycle::State;

namespace {

using Totals = std::map<std::pair<std::string, std::string>, Amount>;  // (flavor, resource)

struct QueueTotals {
  Totals reservation, usage;
};

QueueTotals totals_of(const HeldSums::OfQueue& sums) {
  QueueTotals out;
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

bool same_places(std::span<const StatedPlaces> a, std::span<const StatedPlaces> b) {
  return std::ranges::equal(a, b, [](const StatedPlaces& x, const StatedPlaces& y) {
    return x.flavor == y.flavor && (x.assignment == y.assignment || *x.assignment == *y.assignment);
  });
}

}  // namespace

void Engine::Impl::touch(const Tracked& t) {
  if (!t.local_queue.empty()) touched_local_queues.insert(t.local_queue);
  if (!t.cluster_queue.empty()) touched_cluster_queues.insert(t.cluster_queue);
}

// A change of a quota or weight also changes what other nodes can be lent.
void Engine::Impl::touch_shares() {
  if (!options.fair_sharing.enabled) return;
  for (const auto& [name, queue] : registries.cluster_queues) touched_cluster_queues.insert(name);
  for (const auto& [name, cohort] : registries.cohorts) touched_cohorts.insert(name);
}

// The usage of a queue is part of the fair share of every cohort above it.
void Engine::Impl::touch_cohorts_of(std::string_view cluster_queue) {
  const Ledger& ledger = scheduler.ledger();
  const NodeId queue = ledger.find_cluster_queue(cluster_queue);
  if (!queue.valid()) return;
  for (NodeId cohort = ledger.parent(queue); cohort.valid(); cohort = ledger.parent(cohort)) {
    if (!touched_cohorts.insert(ledger.name(cohort)).second) return;  // the cohorts above it were touched with it
  }
}

void Engine::Impl::emit_queue_statuses(Effects& out) {
  for (const auto& name : std::exchange(touched_cluster_queues, {})) {
    if (registries.cluster_queue(name) != nullptr) out.push_back(ClusterQueueStatusChanged{name});
    if (options.fair_sharing.enabled) touch_cohorts_of(name);
  }
  for (const auto& name : std::exchange(touched_cohorts, {})) {
    if (registries.cohorts.contains(name)) out.push_back(CohortStatusChanged{name});
  }
  for (const auto& key : std::exchange(touched_local_queues, {})) {
    if (const auto* queue = registries.local_queue(key))
      out.push_back(LocalQueueStatusChanged{queue->meta.ns, queue->meta.name});
  }
}

// The finalizer keeps an object while it is in use: a queue whose workloads hold quota, a flavor or check that a
// cluster queue names, a topology that a flavor names. The shell gets one effect per version of the object.
void Engine::Impl::emit_finalizers(Effects& out) {
  const auto consider = [&](std::string_view kind, const api::ObjectMeta& meta, auto in_use) {
    const bool has = std::ranges::find(meta.finalizers, api::kueue::kFinalizer) != meta.finalizers.end();
    const bool shall = !meta.deletion || (has && in_use());
    if (has == shall) return;
    auto& told = told_finalizers[{std::string(kind), meta.name}];
    if (told == std::pair(meta.resource_version, shall)) return;
    told = {meta.resource_version, shall};
    out.push_back(SetFinalizer{std::string(kind), meta.name, shall});
  };
  auto queues = std::exchange(unguarded_queues, {});
  queues.insert(terminating_queues.begin(), terminating_queues.end());
  for (const auto& name : queues) {
    consider("ClusterQueue", registries.cluster_queue(name)->meta, [&] {
      bool in_use = false;
      workloads.for_each_in_cluster_queue(name,
                                          [&](const Tracked& t) { in_use = in_use || holding_status(t) != nullptr; });
      return in_use;
    });
  }
  if (!std::exchange(configuration_changed, false)) return;
  for (const auto& [name, flavor] : registries.flavors)
    consider("ResourceFlavor", flavor->meta,
             [&] { return registries.flavor_in_use(name) || planted(Planted::kKeptFinalizer); });
  for (const auto& [name, topology] : registries.topologies)
    consider("Topology", topology->meta, [&] { return registries.topology_in_use(name); });
  for (const auto& [name, check] : registries.checks)
    consider("AdmissionCheck", check->meta, [&] { return registries.check_in_use(name); });
}

// A finished workload is deleted alone; a workload that Berth deactivated is deleted with its job. Repeated until it
// is gone.
void Engine::Impl::emit_expired(Effects& out, Time now) {
  for (const auto& workload : retention.take_due(now)) {
    const bool finished = lifecycle::state_of(*workload) == State::kFinished;
    out.push_back(ExpireWorkload{workload, !finished});
  }
}

// A pass may enable the next one to admit more (a workload was submitted again, a decision gave quota back). Then the
// next pass follows immediately, but after kMaxPassesAtOnce of them only after kRest.
void Engine::Impl::emit_wake(Effects& out, Time now) {
  constexpr int kMaxPassesAtOnce = 8;
  constexpr std::chrono::seconds kRest{1};
  auto when = workloads.earliest();
  for (const auto& next : {scheduler.next_wake(), retention.earliest()}) {
    if (next && (!when || *next < *when)) when = next;
  }
  if (!untold.empty()) {
    const Time leisurely = leisure.next(now);
    if (!when || leisurely < *when) when = leisurely;
  }
  passes_at_once = scheduler.wants_pass() ? passes_at_once + 1 : 0;
  if (passes_at_once > 0) {
    const Time again = passes_at_once > kMaxPassesAtOnce ? now + kRest : now;
    if (again != now) passes_at_once = 0;
    if (!when || again < *when) when = again;
  }
  if (when && when != told_wake) out.push_back(WakeAt{*when});
  told_wake = when;
}

std::optional<FairShareStatus> Engine::Impl::fair_share(NodeId node) const {
  if (!options.fair_sharing.enabled) return std::nullopt;
  const FairShare share = node.valid() ? scheduler.fair_share(node) : FairShare();
  return FairShareStatus{share.weighted_share(), share.borrowed(), share.lendable(), share.weight(), share.infinite()};
}

std::optional<ClusterQueueStatus> Engine::cluster_queue_status(std::string_view name) const {
  const auto* queue = impl_->registries.cluster_queue(name);
  if (queue == nullptr) return std::nullopt;
  const auto& held = impl_->workloads.held_in_cluster_queue(name);
  const QueueTotals totals = totals_of(held);
  const Activity& activity = impl_->registries.activity(*queue);
  ClusterQueueStatus out{activity.active, activity.reason, activity.message, {}, {}, 0, held.reserving, held.admitted};
  out.reservation = usage_status(*queue, totals.reservation, !queue->cohort_name.empty());
  out.usage = usage_status(*queue, totals.usage, !queue->cohort_name.empty());
  out.pending = static_cast<std::int32_t>(impl_->scheduler.pending_count(name));
  out.fair_share = impl_->fair_share(impl_->scheduler.ledger().find_cluster_queue(name));
  return out;
}

std::optional<CohortStatus> Engine::cohort_status(std::string_view name) const {
  if (!impl_->registries.cohorts.contains(name)) return std::nullopt;
  return CohortStatus{impl_->fair_share(impl_->scheduler.ledger().find_cohort(name))};
}

PendingCounts Engine::pending_counts(std::string_view cluster_queue) const {
  const std::size_t all = impl_->scheduler.pending_count(cluster_queue);
  const std::size_t inadmissible = impl_->scheduler.inadmissible_count(cluster_queue);
  return {all - inadmissible, inadmissible};
}

std::optional<PastUsageStatus> Engine::Impl::past_usage(std::string_view local_queue) const {
  const UsageBook::Sample* sample = scheduler.usage_sample(local_queue);
  if (sample == nullptr) return std::nullopt;
  PastUsageStatus out{{}, sample->at, to_quantity(sample->score), sample->score.last};
  for (const auto& each : sample->used)
    out.consumed[scheduler.usage().name(each.resource)] = Quantity::of_nano(static_cast<Quantity::Nano>(each.amount));
  return out;
}

std::optional<LocalQueueStatus> Engine::local_queue_status(std::string_view ns, std::string_view name) const {
  const std::string key = api::object_key(ns, name);
  const auto* queue = impl_->registries.local_queue(key);
  if (queue == nullptr) return std::nullopt;
  const auto& held = impl_->workloads.held_in_local_queue(key);
  const auto pending = static_cast<std::int32_t>(impl_->scheduler.pending_count(queue->cluster_queue, key));
  const Activity activity = impl_->registries.activity(*queue);
  LocalQueueStatus out{activity.active, activity.reason, activity.message, {}, {},
                       pending,         held.reserving,  held.admitted};
  if (const auto* cq = impl_->registries.cluster_queue(queue->cluster_queue)) {
    const QueueTotals totals = totals_of(held);
    out.reservation = usage_status(*cq, totals.reservation, false);
    out.usage = usage_status(*cq, totals.usage, false);
  }
  out.past_usage = impl_->past_usage(key);
  return out;
}

std::vector<HeldQuota> Engine::held_quotas() const {
  std::vector<HeldQuota> out;
  impl_->workloads.for_each([&](const Tracked& t) {
    const auto* holding = impl_->holding_status(t);
    if (holding == nullptr) return;
    HeldQuota claim{&*t.now, holding->admission->cluster_queue, {}};
    for (const auto& held : amounts_held(*holding->admission, *t.now)) claim.amounts[held.resource] += held.amount;
    out.push_back(std::move(claim));
  });
  return out;
}

// A scheduler rebuilt from the current objects and quota holders, as after a restart. Pending workloads are not part
// of it.
Scheduler Engine::Impl::rebuilt(std::map<const Tracked*, WorkloadId>& ids) const {
  Scheduler out(scheduler_options(options));
  out.adopt_usage(scheduler);
  for (const auto& [name, topology] : registries.topologies) out.set_topology(*topology);
  for (const auto& [name, flavor] : registries.flavors) out.set_flavor(*flavor);
  for (const auto& [name, node] : nodes.nodes()) out.set_node(*node);
  for (const auto& [uid, pod] : nodes.pods()) out.set_pod(*pod);
  for (const auto& [name, cohort] : registries.cohorts) out.set_cohort(*cohort);
  for (const auto& [name, queue] : registries.cluster_queues)
    out.set_cluster_queue(*queue, registries.activity(*queue).active, registries.delayed_flavors(*queue));
  workloads.for_each([&](const Tracked& t) {
    const auto* holding = holding_status(t);
    if (holding == nullptr) return;
    ids[&t] = out.enter(t.now->meta.uid, job_uid_of(*t.now), t.key);
    out.hold(ids[&t], holding_of(t, *holding));
  });
  out.end_adoption();
  return out;
}

// Replaces the scheduler by a rebuilt one, as after a restart. All workloads are marked, so pending ones are
// submitted again.
void Engine::Impl::renumber() {
  std::map<const Tracked*, WorkloadId> holders;
  Scheduler fresh = rebuilt(holders);
  workloads.renumber([&](const Tracked& t) {
    nodes.forget(t.id);
    const auto holder = holders.find(&t);
    return holder != holders.end() ? holder->second : fresh.enter(t.now->meta.uid, job_uid_of(*t.now), t.key);
  });
  scheduler = std::move(fresh);
  recalls_spared = !configuration_changed;  // a change of quota or policies lets everybody preempt again
  names_bound = kSpareNames + 2 * scheduler.names().size();
}

void Engine::renumber() { impl_->renumber(); }
std::size_t Engine::names_kept() const { return impl_->scheduler.names().size(); }

std::vector<std::string> Engine::Impl::check_invariants() const {
  auto broken = scheduler.check();
  for (auto& sentence : check_held()) broken.push_back(std::move(sentence));
  for (auto& sentence : check_census()) broken.push_back(std::move(sentence));
  for (auto& sentence : check_standings()) broken.push_back(std::move(sentence));
  if (!synced) return broken;
  std::map<const Tracked*, WorkloadId> fresh_ids;
  const Scheduler fresh = rebuilt(fresh_ids);
  for (auto& sentence : fresh.places().check()) broken.push_back("rebuilt: " + sentence);
  workloads.for_each([&](const Tracked& t) {
    const State state = lifecycle::state_of(*t.now);
    const auto* holding = holding_status(t);
    const bool holds = scheduler.holds(t.id), pending = scheduler.pending(t.id);
    if (holds != (holding != nullptr)) broken.push_back(t.key + ": its claim differs from its status");
    const WorkloadId again = holding != nullptr ? fresh_ids.at(&t) : WorkloadId();
    if (holds && holding != nullptr && !same_places(scheduler.held_places(t.id), fresh.held_places(again)))
      broken.push_back(t.key + ": its places differ from a rebuilt engine's");
    if (holds && pending) broken.push_back(t.key + ": holds quota and waits for it");
    if (pending && state != State::kPending && lifecycle::hold_of(*t.now) != Hold::kRequeuedFalse)
      broken.push_back(t.key + ": queued although it is " + std::string(lifecycle::name(state)));
    const auto* local = registries.local_queue(t.local_queue);
    const bool queue_open =
        local != nullptr && local->stop_policy == api::kueue::StopPolicy::kNone && !local->meta.deletion;
    if (state == State::kPending && queue_open && !holds && !pending)
      broken.push_back(t.key + ": lost, nobody waits for it");
  });
  const Names &ours = scheduler.names(), &theirs = fresh.names();
  for (const NodeId node : scheduler.ledger().cluster_queues()) {
    const std::string& name = scheduler.ledger().name(node);
    const NodeId other = fresh.ledger().find_cluster_queue(name);
    for (std::size_t i = 0; i < ours.pairs(); ++i) {
      const FlavorResourceId id(i);
      const FlavorId flavor = theirs.find_flavor(ours.name(ours.flavor_of(id)));
      const ResourceId resource = theirs.find_resource(ours.name(ours.resource_of(id)));
      const auto pair = flavor.valid() && resource.valid() ? theirs.find_pair(flavor, resource) : FlavorResourceId();
      const Amount again = other.valid() && pair.valid() ? fresh.ledger().usage(other, pair) : Amount();
      if (scheduler.ledger().usage(node, id) != again)
        broken.push_back("ClusterQueue " + name + ": usage differs from a rebuilt ledger");
    }
  }
  return broken;
}

}  // namespace berth::engine
