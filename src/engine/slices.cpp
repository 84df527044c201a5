#include "engine/slices.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "api/meta.h"
#include "api/owners.h"
#include "engine/lifecycle/state.h"
#include "engine/lifecycle/words.h"
#include "engine/transitions.h"

namespace berth::engine {

using api::kueue::WorkloadStatus;
using lifecycle::State;

namespace {

// More slices of one job than ever exist at a time: a longer chain is a mistake in the annotations.
constexpr int kLongestChain = 64;

const WorkloadStatus* status_with_quota(const Tracked& t) {
  // Fast path: most workloads of a queue are pending and have no admission; their conditions need no look.
  if (!t.now.status().admission && !t.base->status.admission && (!t.in_flight || !t.in_flight->status.admission))
    return nullptr;
  if (lifecycle::state_of(*t.now) == State::kFinished) return nullptr;
  if (lifecycle::holds_quota(t.now.status())) return &t.now.status();
  if (t.in_flight && lifecycle::holds_quota(t.in_flight->status)) return &t.in_flight->status;
  if (lifecycle::holds_quota(t.base->status)) return &t.base->status;
  return nullptr;
}

std::string_view annotation(const Tracked& t, std::string_view key) {
  if (t.base->meta.annotations.empty()) return {};
  const auto found = t.base->meta.annotations.find(key);
  return found == t.base->meta.annotations.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view controller_of(const Tracked& t) {
  const auto* owner = api::controller_of(t.base->meta);
  return owner == nullptr ? std::string_view() : owner->uid;
}

// The slice of the same namespace that its annotation names; "": none.
std::string_view named(const Tracked& t) {
  const std::string_view link = annotation(t, api::kueue::kSliceReplacementFor);
  const std::string_view ns = t.base->meta.ns;
  const bool may = link.size() > ns.size() && link[ns.size()] == '/' && link.starts_with(ns) && link != t.key &&
                   annotation(t, api::kueue::kElasticJob) == "true";
  return may ? link : std::string_view();
}

}  // namespace

const WorkloadStatus* holding_status(const Tracked& t) { return t.replaced ? nullptr : status_with_quota(t); }

std::string name_for_pods(const api::ObjectMeta& workload) {
  const auto chain = workload.annotations.find(api::kueue::kSliceName);
  return chain == workload.annotations.end() ? api::object_key(workload) : api::object_key(workload.ns, chain->second);
}

void Slices::file(Tracked& t) {
  if (!facts_.options.elastic_jobs) return;
  const std::string_view key = named(t);
  if (t.replaces ? *t.replaces == key : key.empty()) return;
  forget(t);
  if (key.empty()) return;
  t.replaces = std::string(key);
  successors_[*t.replaces].insert(t.key);
}

void Slices::forget(Tracked& t) {
  if (!t.replaces) return;
  const auto found = successors_.find(*t.replaces);
  found->second.erase(t.key);
  if (found->second.empty()) successors_.erase(found);
  t.replaces.reset();
}

Tracked* Slices::predecessor(const Tracked& t) const {
  if (!t.replaces) return nullptr;
  Tracked* former = workloads_.find(*t.replaces);
  if (former == nullptr || annotation(*former, api::kueue::kElasticJob) != "true") return nullptr;
  if (controller_of(t).empty() || controller_of(*former) != controller_of(t)) return nullptr;
  const Tracked* above = former;
  for (int i = 0; i < kLongestChain; ++i) {
    if (!above->replaces) return former;
    above = std::as_const(workloads_).find(*above->replaces);
    if (above == nullptr) return former;
    if (above == &t) return nullptr;
  }
  return nullptr;
}

template <typename Visit>
void Slices::for_each_successor(const Tracked& t, Visit visit) const {
  const auto found = successors_.find(t.key);
  if (found == successors_.end()) return;
  for (const auto& key : found->second) {
    Tracked* successor = workloads_.find(key);
    if (successor != nullptr && predecessor(*successor) == &t) visit(*successor);
  }
}

bool Slices::is_replaced(const Tracked& t) const {
  bool replaced = false;
  for_each_successor(t,
                     [&](const Tracked& successor) { replaced = replaced || status_with_quota(successor) != nullptr; });
  return replaced;
}

void Slices::mark_successors(const Tracked& t) const {
  for_each_successor(t, [&](Tracked& successor) { workloads_.mark(successor); });
}

std::optional<Replacement> Slices::replacement(const Tracked& former, std::string_view cluster_queue) const {
  const WorkloadStatus* status = holding_status(former);
  if (status == nullptr || status->admission->cluster_queue != cluster_queue) return std::nullopt;
  Replacement out{former.id, {}};
  for (const auto& each : status->admission->pod_set_assignments) {
    auto& kept = out.pod_sets.emplace_back(Replacement::PodSet{each.name, {}, each.topology_assignment});
    for (const auto& [resource, flavor] : each.flavors) kept.flavors.emplace(resource, flavor);
  }
  return out;
}

std::string Slices::reported_replacement(const Tracked& t) const {
  std::string why;
  for_each_successor(t, [&](const Tracked& successor) {
    if (!why.empty() || !lifecycle::holds_quota(successor.base->status)) return;
    const std::string job = job_uid_of(*successor.base);
    why = lifecycle::message::replaced_by(successor.base->meta.uid, job);
  });
  return why;
}

}  // namespace berth::engine
