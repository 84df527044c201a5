// Engine::explain(): gathers the facts about one workload.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/meta.h"
#include "engine/engine_impl.h"
#include "engine/explain/blockers.h"
#include "engine/explain/changes.h"
#include "engine/lifecycle/change.h"
#include "engine/lifecycle/words.h"

namespace berth::engine {
namespace {

using api::kueue::WorkloadRef;
using lifecycle::State;

// Collects the facts of one explanation; each function fills one part.
class Explainer {
 public:
  Explainer(const Scheduler& scheduler, const Registries& registries, const NodeWatch& nodes,
            const TrackedWorkloads& workloads, const Tracked& t, Time now, Probe::Return comes_back)
      : scheduler_(scheduler),
        registries_(registries),
        nodes_(nodes),
        workloads_(workloads),
        t_(t),
        now_(now),
        comes_back_(std::move(comes_back)) {}

  Explanation out;

  void identity();
  void queue_position();
  void shortages(const Pending& pending);
  void assignment(const std::optional<Pending>& pending);
  void summarize();

 private:
  std::string key_of(WorkloadId id) const {
    const Tracked* t = workloads_.find(id);
    return t == nullptr ? "" : t->key;
  }
  std::optional<Time> ends_by(WorkloadId id) const {
    const Tracked* t = workloads_.find(id);
    return t == nullptr ? std::nullopt : lifecycle::execution_deadline(*t->now);
  }
  void evictions();
  void list_shortages(Probe& probe);
  void list_joint_shortages(Probe& probe);
  void add_holders(Probe& probe, Explanation::Shortage& shortage);
  bool takes_fewer_pods() const;
  std::string missing_amounts() const;
  std::string missing_summary() const;
  void forecast(Probe& probe);

  const Scheduler& scheduler_;
  const Registries& registries_;
  const NodeWatch& nodes_;
  const TrackedWorkloads& workloads_;
  const Tracked& t_;
  Time now_;
  Probe::Return comes_back_;
  std::optional<Probe::Verdict> verdict_;  // none: it is not evaluated
};

void Explainer::identity() {
  const WorkloadRef w = *t_.now;
  out.ns = w.meta.ns;
  out.name = w.meta.name;
  out.uid = w.meta.uid;
  out.state = lifecycle::name(lifecycle::state_of(w));
  out.local_queue = w.queue_name;
  out.cluster_queue = t_.cluster_queue;
  const auto* quota = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved);
  const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
  const auto* missing = quota != nullptr && !quota->status         ? quota
                        : admitted != nullptr && !admitted->status ? admitted
                                                                   : nullptr;
  if (missing != nullptr) {
    out.reason = missing->reason;
    out.message = missing->message;
  }
  // The former reason is out of date until other pods have come.
  const auto* pods = api::find_condition(w.status.conditions, api::kueue::kWaitingForReplacementPods);
  if (missing == quota && missing != nullptr && pods != nullptr && pods->status) {
    out.reason = pods->reason;
    out.message = pods->message;
  }
  if (t_.unreported_reason) {
    out.reason = t_.unreported_reason->reason;
    out.message = t_.unreported_reason->message;
  }
}

void Explainer::queue_position() {
  const auto position = scheduler_.pending_position(t_.id);
  if (!position) return;
  out.position = position->in_cluster_queue;
  const std::size_t shown = std::min(*out.position, Explanation::kMaxAhead);
  for (const WorkloadId id : scheduler_.pending_page(t_.cluster_queue, 0, shown)) {
    const Tracked* other = workloads_.find(id);
    if (other != nullptr && other != &t_)
      out.ahead.push_back({other->key, other->now->priority, other->now->meta.creation});
  }
}

void Explainer::list_shortages(Probe& probe) {
  for (Probe::Want& want : probe.wants()) {
    Explanation::Shortage each;
    each.pod_sets = std::move(want.pod_sets);
    each.flavor = std::move(want.flavor);
    each.resource = std::move(want.resource);
    each.mismatch = std::move(want.mismatch);
    each.wanted = want.wanted;
    each.available = want.available;
    each.most = want.most;
    each.missing = each.mismatch.empty() ? max(Amount(), want.wanted - want.available) : Amount();
    add_holders(probe, each);
    out.shortages.push_back(std::move(each));
  }
}

void Explainer::add_holders(Probe& probe, Explanation::Shortage& shortage) {
  if (shortage.flavor.empty() || shortage.missing <= Amount()) return;
  const auto holders = probe.holders(shortage.flavor, shortage.resource);
  for (const auto& holder : holders) {
    if (shortage.holders.size() == Explanation::Shortage::kMaxHolders) break;
    const Tracked* t = workloads_.find(holder.workload);
    shortage.holders.push_back({key_of(holder.workload), holder.cluster_queue, holder.amount,
                                t == nullptr ? 0 : t->now->priority, ends_by(holder.workload)});
  }
  shortage.more_holders = holders.size() - shortage.holders.size();
}

// Pod sets that fit one by one, but not together.
void Explainer::list_joint_shortages(Probe& probe) {
  std::map<std::pair<std::string, std::string>, Explanation::Shortage> joint;
  for (const auto& each : out.shortages) {
    if (!each.mismatch.empty() || each.flavor.empty()) continue;
    if (each.missing > Amount()) return;
    auto [at, is_new] = joint.try_emplace({each.flavor, each.resource}, each);
    if (is_new) continue;
    at->second.wanted += each.wanted;
    at->second.pod_sets.insert(at->second.pod_sets.end(), each.pod_sets.begin(), each.pod_sets.end());
  }
  for (auto& [_, each] : joint) {
    each.missing = max(Amount(), each.wanted - each.available);
    if (each.missing == Amount()) continue;
    add_holders(probe, each);
    out.shortages.push_back(std::move(each));
  }
}

// Whether the user can let it start with fewer pods: Jobs and Workloads without an owner. The controllers of other
// kinds write the minimum of their pods themselves, and an elastic job may have no minimum.
bool Explainer::takes_fewer_pods() const {
  const auto elastic = t_.now->meta.annotations.find(api::kueue::kElasticJob);
  if (elastic != t_.now->meta.annotations.end() && elastic->second == "true") return false;
  const auto is_job = [](const auto& owner) { return owner.kind == "Job" && owner.api_version == "batch/v1"; };
  const auto& owners = t_.now->meta.owners;
  if (owners.empty() || std::ranges::any_of(owners, is_job)) return true;
  return std::ranges::any_of(t_.now->pod_sets, [](const auto& pod_set) { return pod_set.min_count.has_value(); });
}

// The fewest of the running workloads with a known end, in the order of their ends, that leave enough.
void Explainer::forecast(Probe& probe) {
  std::vector<std::pair<Time, WorkloadId>> ends;
  for (const WorkloadId id : probe.all_holders()) {
    if (const auto at = ends_by(id)) ends.emplace_back(*at, id);
  }
  std::sort(ends.begin(), ends.end());
  const auto enough = [&](std::size_t n) {
    std::vector<WorkloadId> gone;
    for (std::size_t i = 0; i < n; ++i) gone.push_back(ends[i].second);
    return probe.promising_without(gone);
  };
  if (ends.empty() || !enough(ends.size())) return;
  std::size_t low = 1, high = ends.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  out.forecast = Explanation::Forecast{std::max(ends[high - 1].first, now_), high};
}

void Explainer::evictions() {
  workloads_.for_each_in_cluster_queue(t_.cluster_queue, [&](const Tracked& other) {
    if (&other != &t_ && lifecycle::state_of(*other.now) == State::kEvicting) out.waits_for.push_back(other.key);
  });
  std::ranges::sort(out.waits_for);
  if (out.waits_for.size() > Explanation::kMaxAhead) out.waits_for.resize(Explanation::kMaxAhead);
}

void Explainer::shortages(const Pending& pending) {
  evictions();
  Probe probe(scheduler_, t_.id, now_, comes_back_);
  if (!probe.queued()) return;
  verdict_ = probe.verdict();
  if (verdict_->only_place_short) out.places = verdict_->message;
  if (const auto& never = verdict_->never) {
    out.never = text_of(*never) + ".";
    out.never_pod_set = never->pod_set;
    out.never_at_most = never->at_most;
  }
  for (const WorkloadId victim : verdict_->victims) out.victims.push_back(key_of(victim));
  list_shortages(probe);
  if (!verdict_->promising()) list_joint_shortages(probe);
  Probe baseline = probe.copy();
  if (baseline.play()) return;  // it gets its quota without a change
  if (!verdict_->promising() && out.never.empty()) forecast(probe);
  out.changes = ChangeSearch({registries_, nodes_, t_.id, pending, [this](WorkloadId id) { return key_of(id); },
                              takes_fewer_pods(), probe})
                    .search();
}

void Explainer::assignment(const std::optional<Pending>& pending) {
  const auto& admission = t_.now.status().admission;
  if (!admission) return;
  for (const auto& pod_set : admission->pod_set_assignments) {
    Explanation::Assigned each;
    each.pod_set = pod_set.name;
    each.count = pod_set.count;
    for (const auto& [resource, flavor] : pod_set.flavors) each.flavors.emplace_back(resource, flavor);
    if (const auto& places = pod_set.topology_assignment) {
      for (const auto& domain : places->domains) {
        if (each.domains.size() == Explanation::Assigned::kMaxDomains) {
          ++each.more_domains;
          continue;
        }
        std::string path;
        for (const auto& value : domain.values) path += (path.empty() ? "" : "/") + value;
        each.domains.emplace_back(std::move(path), domain.count);
      }
      const auto flavor = registries_.flavors.find(registries_.placed_flavor(pod_set));
      if (flavor != registries_.flavors.end()) each.topology = flavor->second->topology_name;
    }
    out.assigned.push_back(std::move(each));
  }
  const std::string uid = "(UID: " + t_.now->meta.uid + ",";
  workloads_.for_each([&](const Tracked& other) {
    if (out.victims.size() == Explanation::kMaxAhead) return;
    const auto* preempted = api::find_condition(other.now->status.conditions, api::kueue::kPreempted);
    if (preempted != nullptr && preempted->status && preempted->message.find(uid) != std::string::npos)
      out.victims.push_back(other.key);
  });
  if (!pending || !scheduler_.holds(t_.id)) return;
  // As if it waited now, while nothing else changed.
  Probe probe(scheduler_, t_.id, now_, comes_back_);
  probe.end(t_.id);
  probe.scheduler().submit(t_.id, *pending);
  if (probe.queued()) out.considered = probe.verdict().considered;
}

// "2 of cpu in flavor default, 1 of cpu in flavor spot"; "" when no quota is missing.
std::string Explainer::missing_amounts() const {
  constexpr std::size_t kMost = 3;
  std::map<std::pair<std::string, std::string>, Amount> found;  // the most that is missing of each flavor and resource
  for (const auto& each : out.shortages) {
    if (each.missing <= Amount()) continue;
    Amount& most = found[{each.flavor, each.resource}];
    most = max(most, each.missing);
  }
  std::vector<std::string> texts;
  for (const auto& [what, amount] : found) {
    if (texts.size() == kMost) break;
    const auto& [flavor, resource] = what;
    texts.push_back(fmt::format("{} of {}{}{}", format_amount(resource, amount), resource,
                                flavor.empty() ? "" : " in flavor ", flavor));
  }
  if (found.size() > kMost) texts.push_back(fmt::format("and {} more", found.size() - kMost));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// What it lacks, in one sentence; "" when that is nothing.
std::string Explainer::missing_summary() const {
  if (!out.never.empty()) return out.never;
  if (const std::string amounts = missing_amounts(); !amounts.empty())
    return fmt::format("Quota is missing in ClusterQueue {}: {}.", out.cluster_queue, amounts);
  if (!out.places.empty()) return "Quota suffices, but its pods find no place on the nodes.";
  if (!verdict_ || verdict_->promising()) return "";
  for (const auto& each : out.shortages) {
    const auto may_use = [&](const auto& other) { return other.pod_sets == each.pod_sets && other.mismatch.empty(); };
    if (each.mismatch.empty() || std::ranges::any_of(out.shortages, may_use)) continue;
    return fmt::format("No flavor of ClusterQueue {} can be used by pod set {}: {}.", out.cluster_queue,
                       fmt::join(each.pod_sets, ", "), each.mismatch);
  }
  return fmt::format("It does not fit in ClusterQueue {}: {}.", out.cluster_queue, verdict_->message);
}

void Explainer::summarize() {
  if (!out.assigned.empty() && out.blockers.empty()) {
    out.summary = fmt::format("It has quota in ClusterQueue {} and is {}.", out.cluster_queue,
                              out.state == "Admitted" ? "admitted" : "not admitted yet");
  } else if (!out.blockers.empty()) {
    out.summary = out.blockers.front().text;
  } else if (!out.waits_for.empty() && out.changes.empty()) {
    out.summary = fmt::format("It waits until {} evicted workload(s) have ended.", out.waits_for.size());
  } else {
    out.summary = missing_summary();
    if (!out.summary.empty()) return;
    if (out.position.value_or(0) > 0) {
      const auto* queue = registries_.cluster_queue(out.cluster_queue);
      const bool strict = queue != nullptr && queue->queueing_strategy == api::kueue::QueueingStrategy::kStrictFifo;
      out.summary =
          strict ? fmt::format("It fits, but ClusterQueue {} is StrictFIFO, and {} not started yet.", out.cluster_queue,
                               *out.position == 1 ? std::string("the workload before it has")
                                                  : fmt::format("{} workloads before it have", *out.position))
                 : "It fits, but other workloads go first.";
    } else {
      out.summary = "Nothing is missing: it is admitted in the next pass.";
    }
  }
}

}  // namespace

std::vector<std::string> Engine::nodes_with(const std::string& label, const std::string& value) const {
  std::vector<std::string> out;
  for (const auto& [name, node] : impl_->nodes.nodes()) {
    const auto it = node->labels.find(label);
    if (it != node->labels.end() && it->second == value) out.push_back(name);
  }
  return out;
}

std::optional<Explanation> Engine::explain(Time now, std::string_view ns, std::string_view name) const {
  const Impl& impl = *impl_;
  const Tracked* t = impl.workloads.find(api::object_key(ns, name));
  if (t == nullptr) return std::nullopt;
  const auto comes_back = [&impl](WorkloadId id) -> std::optional<Pending> {
    const Tracked* other = impl.workloads.find(id);
    return other == nullptr || !other->now->active ? std::nullopt : impl.views.as_if_pending(*other);
  };
  Explainer explainer(impl.scheduler, impl.facts.registries, impl.nodes, impl.workloads, *t, now, comes_back);
  explainer.identity();
  explainer.out.priority = impl.views.priority(*t->now).effective();
  const auto pending = impl.views.as_if_pending(*t);
  const bool holds = impl.scheduler.holds(t->id);
  const auto& wait = impl.facts.options.wait_for_pods_ready;
  const bool blocked = wait.enabled && wait.block_admission && impl.scheduler.blocked_by_pods();
  explainer.out.blockers = blockers_of({*t, impl.facts.registries, impl.views.situation(*t),
                                        holds ? std::nullopt : pending, explainer.out.message, blocked, now});
  if (holds) {
    explainer.assignment(pending);
  } else {
    explainer.queue_position();
    if (pending && impl.scheduler.pending(t->id)) explainer.shortages(*pending);
  }
  explainer.summarize();
  return std::move(explainer.out);
}

}  // namespace berth::engine
