#include "engine/explain/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace berth::engine {
namespace {

using api::kueue::ClusterQueue;

constexpr std::size_t kMaxRoutes = 4;      // choices of flavors that are tried
constexpr int kMaxGrowth = 6;              // times that a candidate grows because others took what it set free
constexpr std::size_t kSmallTree = 500;    // workloads; in larger trees fewer sizes of a raise are played
constexpr std::int64_t kMaxScan = 128;     // sizes of a raise that are tried one by one
constexpr std::size_t kMaxHolders = 1024;  // running workloads whose end is tried without playing it
constexpr int kMaxPlayed = 8;              // and of these: ends that are played
constexpr std::size_t kMaxNodes = 64;      // nodes whose return is tried

bool none(const std::vector<Amount>& amounts) {
  return std::ranges::all_of(amounts, [](Amount each) { return each <= Amount(); });
}

api::kueue::ResourceQuota* find_quota(ClusterQueue& queue, const std::string& flavor, const std::string& resource) {
  for (auto& group : queue.resource_groups) {
    for (auto& quotas : group.flavors) {
      if (quotas.name != flavor) continue;
      for (auto& each : quotas.resources) {
        if (each.name == resource) return &each;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<ChangeSearch::Route> ChangeSearch::routes(Probe& probe) const {
  // By resource group: what all pod sets ask of each flavor that all of them may use.
  struct Group {
    std::vector<std::string> order;
    std::set<std::string> unusable;
    std::map<std::string, std::map<std::string, Amount>> wanted;  // by flavor, resource
  };
  std::map<std::int32_t, Group> groups;
  for (const Probe::Want& want : probe.wants()) {
    if (want.group < 0) return {};
    Group& group = groups[want.group];
    if (std::ranges::find(group.order, want.flavor) == group.order.end()) group.order.push_back(want.flavor);
    if (want.mismatch.empty()) {
      group.wanted[want.flavor][want.resource] += want.wanted;
    } else {
      group.unusable.insert(want.flavor);
    }
  }
  std::vector<Route> out(1);
  for (const auto& [index, group] : groups) {
    std::vector<Route> longer;
    for (const std::string& flavor : group.order) {
      if (group.unusable.contains(flavor)) continue;
      for (Route route : out) {
        route.flavors.push_back(flavor);
        for (const auto& [resource, amount] : group.wanted.at(flavor))
          route.needs.push_back({flavor, resource, amount});
        if (longer.size() < kMaxRoutes) longer.push_back(std::move(route));
      }
    }
    out = std::move(longer);
  }
  return out;
}

ChangeSearch::Amounts ChangeSearch::missing(Probe& probe, const Route& route) const {
  Amounts out;
  const auto wants = probe.wants();
  for (const Route::Need& need : route.needs) {
    const auto found = std::ranges::find_if(
        wants, [&](const auto& want) { return want.flavor == need.flavor && want.resource == need.resource; });
    out.push_back(found == wants.end() ? Amount() : max(Amount(), need.wanted - found->available));
  }
  return out;
}

// Returns false when there is no such limit to raise.
bool ChangeSearch::raise(Probe& probe, const Route& route, Limit limit, const Amounts& by) const {
  const auto* known = q_.registries.cluster_queue(q_.pending.cluster_queue);
  if (known == nullptr) return false;
  ClusterQueue queue = *known;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by[i] <= Amount()) continue;
    const auto& [flavor, resource, wanted] = route.needs[i];
    auto* quota = find_quota(queue, flavor, resource);
    if (quota == nullptr || (limit == Limit::kBorrowing && !quota->borrowing_limit)) return false;
    Quantity& raised = limit == Limit::kNominal ? quota->nominal : *quota->borrowing_limit;
    raised = to_quantity(resource, to_amount(resource, raised) + by[i]);
  }
  probe.scheduler().set_cluster_queue(queue, q_.registries.activity(*known).active,
                                      q_.registries.delayed_flavors(*known));
  return true;
}

// Makes each amount as small as an evaluation allows, the others unchanged: on the grid of what can matter, the first
// one from 0 upwards that is enough, since less may let the workload preempt where more does not; then by bisection
// between two points of the grid (shares under fair sharing know no grid).
void ChangeSearch::shrink(const Route& route, Limit limit, Amounts& by) const {
  Probe scratch = probe();
  for (std::size_t i = 0; i < by.size(); ++i) {
    const auto enough = [&](Amount amount) {
      Amounts tried = by;
      tried[i] = amount;
      return raise(scratch, route, limit, tried) && scratch.promising();
    };
    const Amount step = scratch.quantum(route.needs[i].flavor, route.needs[i].resource);
    const std::int64_t points = by[i].count() / step.count();
    Amount floor;  // too little, or 0
    for (std::int64_t n = 0; n < points && points <= kMaxScan; ++n) {
      if (enough(step * n)) {
        by[i] = step * n;
        break;
      }
      floor = step * n;
    }
    if (by[i] <= Amount() || !enough(by[i] - Amount::of(1))) continue;
    Amount low = floor, high = by[i] - Amount::of(1);  // `high` is enough
    while (low < high) {
      const Amount middle = Amount::of(low.count() + (high.count() - low.count()) / 2);
      if (enough(middle)) {
        high = middle;
      } else {
        low = middle + Amount::of(1);
      }
    }
    by[i] = high;
  }
}

void ChangeSearch::raise_limits(const Route& route, Limit limit, std::vector<Change>& out) const {
  Amounts by;
  {
    Probe scratch = probe();
    by = missing(scratch, route);
    // What a single evaluation lacks: a queue that uses more than it may lacks more than `available` says.
    for (int i = 0; i < kMaxGrowth && raise(scratch, route, limit, by) && !scratch.promising(); ++i) {
      const Amounts more = missing(scratch, route);
      if (none(more)) break;
      for (std::size_t n = 0; n < by.size(); ++n) by[n] += more[n];
    }
    if (!raise(scratch, route, limit, by) || !scratch.promising()) return;
  }
  shrink(route, limit, by);
  const Amounts alone = by;
  auto outcome = grow(route, limit, by);
  // Others that get quota first may be preempted again, so less than this workload lacks by itself may be enough.
  if (cheap_) {
    outcome = narrow(route, limit, Amounts(by.size()), by, std::move(outcome));
  } else if (by != alone) {
    outcome = narrow(route, limit, alone, by, std::move(outcome));
  }
  if (outcome && !none(by)) finish(quota_change(route, limit, by), *outcome, out);
}

// Others may take what a raise sets free: then raises by what is missing after that. In large trees many may come
// before it: there each step is twice the last one. nullopt: that does not help.
std::optional<Probe::Outcome> ChangeSearch::grow(const Route& route, Limit limit, Amounts& by) const {
  for (int i = 0; i < kMaxGrowth; ++i) {
    Probe played = probe();
    raise(played, route, limit, by);
    if (auto outcome = played.play()) return outcome;
    const WorkloadId first = played.blocked_by();
    const Route* other = &route;
    std::vector<Route> of_first;
    if (first.valid()) {  // the head of a StrictFIFO queue must get its quota before
      played.ask_about(first);
      of_first = routes(played);
      if (of_first.empty()) return std::nullopt;
      other = &of_first.front();
    }
    const Amounts more = missing(played, *other);
    if (none(more)) return std::nullopt;
    for (std::size_t n = 0; n < more.size(); ++n) {
      for (std::size_t own = 0; own < by.size(); ++own) {
        if (route.needs[own].flavor == other->needs[n].flavor && route.needs[own].resource == other->needs[n].resource)
          by[own] += more[n] * (cheap_ ? 1 : std::int64_t{1} << i);
      }
    }
  }
  return std::nullopt;
}

std::optional<Probe::Outcome> ChangeSearch::play(const Route& route, Limit limit, const Amounts& by) const {
  Probe played = probe();
  return raise(played, route, limit, by) ? played.play() : std::nullopt;
}

// Makes each amount as small as possible: the first one from `from` upwards that is enough, on the grid of what can
// matter, while grid and tree are small; else by bisection. `outcome`: of `by`, nullopt when it is not enough.
std::optional<Probe::Outcome> ChangeSearch::narrow(const Route& route, Limit limit, const Amounts& from, Amounts& by,
                                                   std::optional<Probe::Outcome> outcome) const {
  for (std::size_t i = 0; i < by.size(); ++i) {
    const std::int64_t step = q_.probe.quantum(route.needs[i].flavor, route.needs[i].resource).count();
    const auto enough = [&](std::int64_t amount) {
      Amounts tried = by;
      tried[i] = Amount::of(amount);
      auto found = play(route, limit, tried);
      if (found) outcome = std::move(*found);
      return found.has_value();
    };
    std::int64_t low = from[i].count() - (from[i].is_zero() ? 1 : 0), high = by[i].count();
    if (cheap_ && (high - low) / step <= kMaxScan) {
      for (std::int64_t n = from[i].count(); n < high; n += step) {
        if (enough(n)) {
          high = n;
        } else {
          low = n;
        }
      }
    }
    if (!outcome) continue;
    // `high` is enough, `low` is not.
    if (high - low > step || (high > 0 && enough(high - 1))) {
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (enough(middle) ? high : low) = middle;
      }
    }
    by[i] = Amount::of(high);
  }
  return outcome;
}

Change ChangeSearch::quota_change(const Route& route, Limit limit, const Amounts& by) const {
  Change out;
  out.kind = limit == Limit::kNominal ? Change::Kind::kRaiseNominalQuota : Change::Kind::kRaiseBorrowingLimit;
  out.cluster_queue = q_.pending.cluster_queue;
  ClusterQueue queue = *q_.registries.cluster_queue(q_.pending.cluster_queue);
  std::string steps;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by[i] <= Amount()) continue;
    const auto& [flavor, resource, wanted] = route.needs[i];
    const auto* quota = find_quota(queue, flavor, resource);
    const Amount from = to_amount(resource, limit == Limit::kNominal ? quota->nominal : *quota->borrowing_limit);
    out.quotas.push_back({flavor, resource, from, from + by[i]});
    steps += fmt::format("{}{} of flavor {} from {} to {}", steps.empty() ? "" : ", ", resource, flavor,
                         format_amount(resource, from), format_amount(resource, from + by[i]));
  }
  out.text = fmt::format("Raise the {} of ClusterQueue {}: {}.",
                         limit == Limit::kNominal ? "nominalQuota" : "borrowingLimit", out.cluster_queue, steps);
  return out;
}

// The smallest one first: by the amount of what is missing, then by preemption order.
void ChangeSearch::end_workloads(std::vector<Change>& out) const {
  Probe& scratch = q_.probe;  // only looks
  std::vector<WorkloadId> candidates = scratch.all_holders();
  std::map<WorkloadId, Amount> freed;
  for (const Route& route : routes(scratch)) {
    const Amounts lacks = missing(scratch, route);
    for (std::size_t i = 0; i < lacks.size(); ++i) {
      if (lacks[i] <= Amount()) continue;
      for (const auto& holder : scratch.holders(route.needs[i].flavor, route.needs[i].resource))
        freed[holder.workload] += holder.amount;
    }
  }
  if (!freed.empty()) std::erase_if(candidates, [&](WorkloadId each) { return !freed.contains(each); });
  std::ranges::stable_sort(candidates,
                           [&](WorkloadId a, WorkloadId b) { return !freed.empty() && freed.at(a) < freed.at(b); });
  if (candidates.size() > kMaxHolders) candidates.resize(kMaxHolders);
  int played_ends = 0;
  for (const WorkloadId each : candidates) {
    if (!scratch.blocked_by().valid() && !scratch.promising_without({each})) continue;
    if (++played_ends > kMaxPlayed) return;
    Probe played = probe();
    played.end(each);
    const auto outcome = played.play();
    if (!outcome) continue;
    Change change;
    change.kind = Change::Kind::kEndWorkload;
    change.workload = q_.key_of(each);
    change.text = fmt::format("End or preempt workload {}.", change.workload);
    return finish(std::move(change), *outcome, out);
  }
}

void ChangeSearch::restore_nodes(std::vector<Change>& out) const {
  std::size_t tried = 0;
  for (const auto& [name, node] : q_.nodes.nodes()) {
    if (node->usable()) continue;
    if (++tried > kMaxNodes) return;
    api::Node healthy = *node;
    healthy.ready = true;
    healthy.unschedulable = false;
    // The taints of the node lifecycle go with their cause.
    std::erase_if(healthy.taints, [](const api::Taint& taint) { return taint.key.starts_with("node.kubernetes.io/"); });
    Probe played = probe();
    played.scheduler().set_node(healthy);
    if (!played.promising()) continue;
    const auto outcome = played.play();
    if (!outcome) continue;
    Change change;
    change.kind = Change::Kind::kRestoreNode;
    change.node = name;
    change.text = fmt::format("Bring node {} back: ready and not cordoned.", name);
    return finish(std::move(change), *outcome, out);
  }
}

std::optional<Probe::Outcome> ChangeSearch::play_with(std::size_t pod_set, std::int32_t at_least) const {
  Pending fewer = q_.pending;
  for (auto& each : fewer.pod_sets) each.min_count.reset();
  fewer.pod_sets[pod_set].min_count = at_least;
  Probe played = probe();
  played.scheduler().submit(q_.workload, fewer);
  return played.play();
}

// The largest minimum that is enough. The workload may start with more pods than that: those that it preempts may free
// more than it needs for the minimum.
void ChangeSearch::reduce_pods(std::vector<Change>& out) const {
  for (std::size_t i = 0; i < q_.pending.pod_sets.size(); ++i) {
    const auto& pod_set = q_.pending.pod_sets[i];
    std::int32_t low = 1, high = pod_set.min_count.value_or(pod_set.count);  // `high` is too many
    if (high < 2) continue;
    auto outcome = play_with(i, low);
    if (!outcome || outcome->counts.size() <= i) continue;
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      if (auto found = play_with(i, middle)) {
        low = middle;
        outcome = std::move(found);
      } else {
        high = middle;
      }
    }
    Change change;
    change.kind = Change::Kind::kReducePods;
    change.pod_set = pod_set.name;
    change.pods = low;
    change.text = fmt::format("Allow partial admission of pod set {} down to {} of its {} pods: it starts with {}.",
                              pod_set.name, low, pod_set.count, outcome->counts[i]);
    return finish(std::move(change), *outcome, out);
  }
}

void ChangeSearch::finish(Change change, const Probe::Outcome& outcome, std::vector<Change>& out) const {
  for (const WorkloadId victim : outcome.victims) change.preempts.push_back(q_.key_of(victim));
  if (!change.preempts.empty())
    change.text +=
        fmt::format(" The workload then preempts {}{}.", change.preempts.front(),
                    change.preempts.size() > 1 ? fmt::format(" and {} more", change.preempts.size() - 1) : "");
  out.push_back(std::move(change));
}

std::vector<Change> ChangeSearch::search() {
  std::vector<Change> out;
  cheap_ = q_.probe.size() <= kSmallTree;
  const std::vector<Route> found = routes(q_.probe);
  for (const Limit limit : {Limit::kNominal, Limit::kBorrowing}) {
    for (const Route& route : found) raise_limits(route, limit, out);
  }
  end_workloads(out);
  restore_nodes(out);
  if (q_.partial) reduce_pods(out);
  return out;
}

}  // namespace berth::engine
