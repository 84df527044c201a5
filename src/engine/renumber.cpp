// The scheduler made anew from what is known: to renumber internal names, and to check the present one.
#include <algorithm>
#include <span>
#include <utility>

#include "engine/engine_impl.h"

namespace berth::engine {

using lifecycle::Hold;
using lifecycle::State;

namespace {

bool same_places(std::span<const StatedPlaces> a, std::span<const StatedPlaces> b) {
  return std::ranges::equal(a, b, [](const StatedPlaces& x, const StatedPlaces& y) {
    return x.flavor == y.flavor && (x.assignment == y.assignment || *x.assignment == *y.assignment);
  });
}

}  // namespace

// A scheduler rebuilt from the current objects and quota holders, as after a restart. Pending workloads are not part
// of it.
Scheduler Engine::Impl::rebuilt(std::map<const Tracked*, WorkloadId>& ids) const {
  Scheduler out(scheduler_options(facts.options));
  out.adopt_usage(scheduler);
  for (const auto& [name, topology] : facts.registries.topologies) out.set_topology(*topology);
  for (const auto& [name, flavor] : facts.registries.flavors) out.set_flavor(*flavor);
  for (const auto& [name, node] : nodes.nodes()) out.set_node(*node);
  for (const auto& [uid, pod] : nodes.pods()) out.set_pod(*pod);
  for (const auto& [name, seen] : devices.nodes) out.set_node_devices(name, seen.devices);
  for (const auto& [claim, taken] : devices.taken) out.set_taken_devices(placement_of(taken));
  for (const auto& [name, cohort] : facts.registries.cohorts) out.set_cohort(*cohort);
  for (const auto& [name, queue] : facts.registries.cluster_queues)
    out.set_cluster_queue(*queue, facts.registries.activity(*queue).active, facts.registries.delayed_flavors(*queue));
  workloads.for_each([&](const Tracked& t) {
    const auto* holding = holding_status(t);
    if (holding == nullptr) return;
    ids[&t] = out.enter(t.now->meta.uid, job_uid_of(*t.now), name_for_pods(t.now->meta));
    out.hold(ids[&t], views.holding(t, *holding));
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
    return holder != holders.end() ? holder->second
                                   : fresh.enter(t.now->meta.uid, job_uid_of(*t.now), name_for_pods(t.now->meta));
  });
  scheduler = std::move(fresh);
  pass_facts.recalls_protected =
      !configuration.changed();  // a change of quota or policies lets everybody preempt again
  pass_facts.names_bound = kSpareNames + 2 * scheduler.names().size();
}

std::vector<std::string> Engine::Impl::check_invariants() const {
  auto broken = scheduler.check();
  for (auto& sentence : census.check()) broken.push_back(std::move(sentence));
  if (!facts.synced) return broken;
  std::map<const Tracked*, WorkloadId> fresh_ids;
  const Scheduler fresh = rebuilt(fresh_ids);
  for (auto& sentence : fresh.places().check()) broken.push_back("rebuilt: " + sentence);
  check_workloads(fresh, fresh_ids, broken);
  check_usage(fresh, broken);
  return broken;
}

void Engine::Impl::check_workloads(const Scheduler& fresh, const std::map<const Tracked*, WorkloadId>& fresh_ids,
                                   std::vector<std::string>& broken) const {
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
    const auto* local = facts.registries.local_queue(t.local_queue);
    const bool queue_open =
        local != nullptr && local->stop_policy == api::kueue::StopPolicy::kNone && !local->meta.deletion;
    if (state == State::kPending && queue_open && !holds && !pending)
      broken.push_back(t.key + ": lost, nobody waits for it");
  });
}

void Engine::Impl::check_usage(const Scheduler& fresh, std::vector<std::string>& broken) const {
  const Names &ours = scheduler.names(), &theirs = fresh.names();
  for (const QuotaNodeId node : scheduler.ledger().cluster_queues()) {
    const std::string& name = scheduler.ledger().name(node);
    const QuotaNodeId other = fresh.ledger().find_cluster_queue(name);
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
}

}  // namespace berth::engine
