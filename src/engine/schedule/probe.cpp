#include "engine/schedule/probe.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/schedule/nominate.h"
#include "engine/schedule/scheduler_impl.h"
#include "engine/schedule/trial.h"

namespace berth::engine {
namespace {

// Rounds of preemption that are played: each ends at least one workload, so a real chain is short.
constexpr int kMaxRounds = 64;

// Why a slice may not use this flavor: the pods that run are on nodes of another one. "": it may.
std::string other_flavor_kept(const Replacement::PodSet* kept, const Plan::Step& step, const std::string& flavor,
                              const Names& names) {
  for (const Plan::Want& want : step.wants) {
    if (kept == nullptr) break;
    const auto had = kept->flavors.find(names.name(want.resource));
    if (had != kept->flavors.end() && had->second != flavor) return "the pods that run have flavor " + had->second;
  }
  return "";
}

}  // namespace

Probe::Probe(const Scheduler& original, WorkloadId workload, Time now, Return comes_back)
    : copy_(original.copy_around(workload)), workload_(workload), now_(now), comes_back_(std::move(comes_back)) {
  copy_.impl_->state.now = now;
  for (const WorkloadId holder : every_holder()) {
    if (copy_.impl_->state.slots[holder].evicted) stop(holder);
  }
}

std::size_t Probe::size() const {
  std::size_t out = 0;
  for (const auto& queue : copy_.impl_->state.queues)
    out += queue == nullptr ? 0 : queue->pending.size() + queue->holders.ordered().size();
  return out;
}

bool Probe::queued() const {
  const SchedulerState& state = copy_.impl_->state;
  if (!state.slots.known(workload_)) return false;
  const Slot& slot = state.slots[workload_];
  return slot.place == Slot::Place::kQueued && !slot.barrier && state.runs(*state.queue(slot.queue));
}

void Probe::nominate(Entry& entry) {
  SchedulerState& state = copy_.impl_->state;
  state.only_looks = true;
  entry.workload = workload_;
  entry.queue = state.queue(state.slots[workload_].queue);
  Nominator(state).nominate_in_all_walks(entry);
  state.only_looks = false;
}

std::vector<Probe::Want> Probe::wants() {
  std::vector<Want> out;
  Entry entry;
  nominate(entry);
  if (entry.plan == nullptr) return out;
  SchedulerState& state = copy_.impl_->state;
  const TakeOver taking(state.ledger, state.predecessor(entry));
  for (const Plan::Unit& unit : entry.plan->units) {
    Want common;
    const auto* kept =
        entry.replaces == nullptr ? nullptr : entry.replaces->find(entry.shape->pod_sets[unit.pod_sets.front()].name);
    for (const std::size_t i : unit.pod_sets) common.pod_sets.push_back(entry.shape->pod_sets[i].name);
    const auto total = [&](const Plan::Want& want) {
      Amount sum;
      for (std::size_t i = 0; i < unit.pod_sets.size(); ++i)
        sum += want.per_pod[i] * entry.shape->pod_sets[unit.pod_sets[i]].count;
      return sum;
    };
    for (const Plan::Step& step : unit.steps) {
      if (step.requests_nothing()) continue;
      common.group = step.group;
      for (const Plan::Want& want : step.wants) {
        Want each = common;
        each.resource = state.names.name(want.resource);
        each.wanted = total(want);
        if (step.group < 0 && !each.wanted.is_zero()) out.push_back(each);
      }
      for (std::size_t f = 0; f < step.ids.size(); ++f) {
        Want of_flavor = common;
        of_flavor.flavor =
            state.names.name(entry.queue->config.groups[static_cast<std::size_t>(step.group)].flavors[f]);
        of_flavor.mismatch = step.mismatch[f];
        if (of_flavor.mismatch.empty())
          of_flavor.mismatch = other_flavor_kept(kept, step, of_flavor.flavor, state.names);
        if (!of_flavor.mismatch.empty()) {
          out.push_back(of_flavor);
          continue;
        }
        for (std::size_t i = 0; i < step.wants.size(); ++i) {
          Want each = of_flavor;
          each.resource = state.names.name(step.wants[i].resource);
          each.wanted = total(step.wants[i]);
          if (each.wanted.is_zero()) continue;
          each.available = state.ledger.available(entry.queue->node, step.ids[f][i]);
          each.most = state.ledger.potential_available(entry.queue->node, step.ids[f][i]);
          out.push_back(each);
        }
      }
    }
  }
  return out;
}

Probe::Verdict Probe::verdict() {
  Verdict out;
  Entry entry;
  nominate(entry);
  if (entry.plan == nullptr) return out;
  SchedulerState& state = copy_.impl_->state;
  out.fits = entry.assignment.mode == Mode::kFit || entry.assignment.mode == Mode::kDeferredFit;
  out.preempts = entry.assignment.mode == Mode::kPreempt && !entry.targets.empty();
  out.only_place_short = entry.assignment.only_place_short;
  out.borrowing = entry.assignment.borrowing;
  for (const Target& target : entry.targets) out.victims.push_back(target.workload);
  out.message = message(entry.assignment, *entry.plan, *entry.shape, state.names,
                        Placer(state.places, state.names).explain(entry));
  out.considered = considered_in_words(entry.assignment, *entry.plan, *entry.shape, state.names);
  if (!out.promising()) out.never = EverFits(state.ledger, state.places, state.names).ask(entry);
  return out;
}

bool Probe::promising() {
  Entry entry;
  nominate(entry);
  if (entry.plan == nullptr) return false;
  const Mode mode = entry.assignment.mode;
  return mode == Mode::kFit || mode == Mode::kDeferredFit || (mode == Mode::kPreempt && !entry.targets.empty());
}

bool Probe::promising_without(const std::vector<WorkloadId>& gone) {
  Trial trial(copy_.impl_->state.ledger, copy_.impl_->state.places);
  for (const WorkloadId each : gone) trial.without(each);
  return promising();
}

std::vector<Probe::Holder> Probe::holders(const std::string& flavor, const std::string& resource) const {
  const SchedulerState& state = copy_.impl_->state;
  std::vector<Holder> out;
  const FlavorId f = state.names.find_flavor(flavor);
  const ResourceId r = state.names.find_resource(resource);
  const FlavorResourceId id = f.valid() && r.valid() ? state.names.find_pair(f, r) : FlavorResourceId();
  if (!id.valid()) return out;
  for (const WorkloadId each : all_holders()) {
    const Claim& claim = *state.ledger.claim(each);
    for (const FlavorResourceAmount& amount : claim.usage) {
      if (amount.id == id) out.push_back({each, state.ledger.name(claim.cluster_queue), amount.amount});
    }
  }
  std::sort(out.begin(), out.end(), [&](const Holder& a, const Holder& b) {
    return a.amount != b.amount ? a.amount > b.amount : state.slots.uid_less(a.workload, b.workload);
  });
  return out;
}

std::vector<WorkloadId> Probe::all_holders() const {
  const SchedulerState& state = copy_.impl_->state;
  std::vector<WorkloadId> out = every_holder();
  if (state.slots.known(workload_)) std::erase(out, state.predecessor(workload_));
  return out;
}

std::vector<WorkloadId> Probe::every_holder() const {
  const SchedulerState& state = copy_.impl_->state;
  std::vector<WorkloadId> out;
  for (const QuotaNodeId node : state.ledger.cluster_queues()) {
    const Queue* queue = state.queue(node);
    if (queue == nullptr) continue;
    for (const HolderKey& holder : queue->holders.ordered()) out.push_back(holder.workload);
  }
  return out;
}

Amount Probe::quantum(const std::string& flavor, const std::string& resource) const {
  const SchedulerState& state = copy_.impl_->state;
  const FlavorId f = state.names.find_flavor(flavor);
  const ResourceId r = state.names.find_resource(resource);
  const FlavorResourceId id = f.valid() && r.valid() ? state.names.find_pair(f, r) : FlavorResourceId();
  if (!id.valid()) return Amount::of(1);
  std::int64_t out = 0;
  const auto also = [&](Amount amount) {
    if (!amount.is_unlimited()) out = std::gcd(out, amount.count());
  };
  std::set<ShapeId> seen;
  for (std::size_t i = 0; i < state.slots.size(); ++i) {
    const WorkloadId workload(i);
    if (!state.slots.known(workload)) continue;
    const Slot& slot = state.slots[workload];
    if (const Claim* claim = state.ledger.claim(workload); claim != nullptr) {
      for (const FlavorResourceAmount& each : claim->usage) also(each.id == id ? each.amount : Amount());
    }
    if (!slot.shape.valid() || !seen.insert(slot.shape).second) continue;
    for (const Shape::PodSet& pod_set : state.shapes[slot.shape].pod_sets) {
      for (const ResourceAmount& each : pod_set.counted) also(each.resource == r ? each.amount : Amount());
    }
  }
  state.ledger.for_each_node([&](QuotaNodeId node) {
    const Quota& quota = state.ledger.quota(node, id);
    also(quota.nominal);
    also(quota.borrowing_limit);
    also(quota.lending_limit);
  });
  return Amount::of(std::max<std::int64_t>(out, 1));
}

void Probe::end(WorkloadId workload) {
  copy_.impl_->state.places.give_back_with_pods(workload);
  copy_.release(workload);
}

void Probe::stop(WorkloadId workload) {
  end(workload);
  if (const auto pending = comes_back_(workload)) copy_.submit(workload, *pending);
}

std::optional<Probe::Outcome> Probe::play() {
  std::optional<Outcome> out;
  std::vector<WorkloadId> victims;
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<WorkloadId> leaving;
    for (const Decision& decision : copy_.schedule(now_)) {
      if (const auto* admit = std::get_if<Admit>(&decision); admit != nullptr && admit->workload == workload_) {
        out.emplace();
        for (const PodSetFlavors& pod_set : admit->pod_sets) out->counts.push_back(pod_set.count);
      }
      const auto* preempt = std::get_if<Preempt>(&decision);
      if (preempt == nullptr) continue;
      if (preempt->target == workload_) return std::nullopt;
      leaving.push_back(preempt->target);
      if (preempt->preemptor == workload_) victims.push_back(preempt->target);
    }
    if (leaving.empty()) break;
    for (const WorkloadId each : leaving) stop(each);
  }
  if (out) out->victims = std::move(victims);
  return out;
}

WorkloadId Probe::blocked_by() const {
  const SchedulerState& state = copy_.impl_->state;
  const Queue& queue = *state.queue(state.slots[workload_].queue);
  if (!queue.config.strict()) return {};
  const auto first = queue.pending.page(0, 1);
  return first.empty() || first.front() == workload_ ? WorkloadId() : first.front();
}

}  // namespace berth::engine
