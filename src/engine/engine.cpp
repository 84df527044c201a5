#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "base/planted.h"
#include "engine/engine_impl.h"
#include "engine/lifecycle/words.h"
#include "engine/version.h"

namespace berth::engine {

using api::kueue::Workload;

Engine::Engine(Options options) : impl_(std::make_unique<Impl>(options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine Engine::copy() const {
  Engine out(impl_->options);
  out.impl_ = std::make_unique<Impl>(*impl_);
  return out;
}
Engine& Engine::operator=(Engine&&) noexcept = default;

Effects Engine::handle(Time now, const Event& event) {
  Effects out;
  impl_->scheduler.set_time(now);
  std::visit([&](const auto& e) { impl_->on(now, e, out); }, event);
  return out;
}

Effects Engine::schedule(Time now) { return impl_->schedule(now); }

std::vector<std::string> Engine::check_invariants(Time) const { return impl_->check_invariants(); }

SchedulerOptions scheduler_options(const Options& o) {
  SchedulerOptions out;
  out.partial_admission = o.partial_admission;
  out.flavor_fungibility = o.flavor_fungibility;
  out.priority_sorting_within_cohort = o.priority_sorting_within_cohort;
  out.equivalence_hashing = o.scheduling_equivalence_hashing;
  out.block_admission = o.wait_for_pods_ready.enabled && o.wait_for_pods_ready.block_admission;
  out.ignore_undeclared = o.resources.ignore_undeclared;
  out.prioritize_preemptors = o.prioritize_preemptors;
  out.recompute_on_overlap = o.recompute_on_overlap;
  out.topology = o.topology;
  out.fair_sharing = {o.fair_sharing.enabled, o.fair_sharing.final_share, o.fair_sharing.initial_share,
                      o.fair_preempt_within_nominal, o.fair_prioritize_non_borrowing};
  out.usage = o.admission_fair_sharing;
  out.usage.enabled = out.usage.enabled && o.admission_by_usage;
  return out;
}

namespace {

// Every status write of a queue is seen again; decisions do not depend on it. metadata.generation counts changes of
// the spec; when it is 0 (not maintained), any change counts.
bool says_more_than_status(const api::ObjectMeta& known, const api::ObjectMeta& seen) {
  if (seen.generation == 0) return true;
  api::ObjectMeta same = seen;
  same.resource_version = known.resource_version;
  return same != known;
}

}  // namespace

Engine::Impl::Impl(const Options& o)
    : EngineFacts(o), scheduler(scheduler_options(o)), nodes(o), retention(o.retention) {}

Engine::Impl::Impl(const Impl& other)
    : EngineFacts(other),
      scheduler(other.scheduler.copy()),
      nodes(other.nodes),
      retention(other.retention),
      workloads(other.workloads),
      to_flush(workloads.same(other.to_flush)),
      due_second_passes(workloads.same(other.due_second_passes)) {
  for (const auto& [when, t] : other.untold) untold.emplace_hint(untold.end(), when, workloads.find(t->id));
  for (const auto& [write, t] : other.writes) writes.emplace_hint(writes.end(), write, workloads.find(t->id));
}

void Engine::Impl::on(Time, const ClusterQueueSeen& e, Effects&) {
  auto& known = registries.cluster_queues[e.object->meta.name];
  const bool news = !known || says_more_than_status(known->meta, e.object->meta);
  known = e.object;
  unguarded_queues.insert(e.object->meta.name);
  if (!news) return;
  if (e.object->meta.deletion) {
    terminating_queues.insert(e.object->meta.name);
  } else {
    terminating_queues.erase(e.object->meta.name);
  }
  changed_queues.insert(e.object->meta.name);
  configuration_changed = true;
}

void Engine::Impl::on(Time, const ClusterQueueGone& e, Effects&) {
  if (registries.cluster_queues.erase(e.name) == 0) return;
  told_finalizers.erase({"ClusterQueue", e.name});
  terminating_queues.erase(e.name);
  unguarded_queues.erase(e.name);
  changed_queues.insert(e.name);
  configuration_changed = true;
}

void Engine::Impl::on(Time, const CohortSeen& e, Effects&) {
  auto& known = registries.cohorts[e.object->meta.name];
  const bool news = !known || says_more_than_status(known->meta, e.object->meta);
  known = e.object;
  if (!news) return;
  scheduler.set_cohort(*e.object);
  configuration_changed = true;
}

void Engine::Impl::on(Time, const CohortGone& e, Effects&) {
  if (registries.cohorts.erase(e.name) == 0) return;
  scheduler.remove_cohort(e.name);
  configuration_changed = true;
}

void Engine::Impl::on(Time, const LocalQueueSeen& e, Effects&) {
  const std::string key = api::object_key(e.object->meta);
  const auto* known = registries.local_queue(key);
  const bool news = known == nullptr || says_more_than_status(known->meta, e.object->meta);
  see_usage(known, *e.object);
  registries.set_local_queue(e.object);
  if (!news) return;
  touched_local_queues.insert(key);
  workloads.mark_local_queue(key);
}

// While this engine leads, it knows better than the statuses, which it wrote itself.
void Engine::Impl::see_usage(const api::kueue::LocalQueue* known, const api::kueue::LocalQueue& seen) {
  if (!scheduler.usage().on()) return;
  const std::string key = api::object_key(seen.meta);
  if (known != nullptr && known->meta.uid != seen.meta.uid) scheduler.remove_local_queue(key);
  const auto* sample = scheduler.usage_sample(key);
  Scheduler::LocalQueueUsage usage{key, seen.cluster_queue, seen.fair_weight.fraction(), seen.meta.creation, {}};
  const bool tells = seen.past_usage && (sample == nullptr || (!synced && sample->at != seen.past_usage->last_update));
  if (tells) usage.past = {seen.past_usage->consumed, seen.past_usage->last_update};
  scheduler.set_local_queue(usage);
}

void Engine::Impl::on(Time, const LocalQueueGone& e, Effects&) {
  const std::string key = api::object_key(e.ns, e.name);
  if (registries.local_queue(key) == nullptr) return;
  scheduler.remove_local_queue(key);
  registries.remove_local_queue(key);
  workloads.mark_local_queue(key);
}

void Engine::Impl::on(Time, const ResourceFlavorSeen& e, Effects&) {
  const auto before = std::exchange(registries.flavors[e.object->meta.name], e.object);
  scheduler.set_flavor(*e.object);
  configuration_changed = rules_changed = true;
  // Look again at the workloads with places on its nodes.
  if (before && before->topology_name == e.object->topology_name && before->tolerations == e.object->tolerations)
    return;
  for (auto& name : registries.queues_with_flavor(e.object->meta.name)) changed_queues.insert(std::move(name));
}

void Engine::Impl::on(Time, const ResourceFlavorGone& e, Effects&) {
  if (registries.flavors.erase(e.name) == 0) return;
  told_finalizers.erase({"ResourceFlavor", e.name});
  scheduler.remove_flavor(e.name);
  configuration_changed = rules_changed = true;
}

void Engine::Impl::on(Time, const AdmissionCheckSeen& e, Effects&) {
  registries.checks[e.object->meta.name] = e.object;
  configuration_changed = rules_changed = true;
}

void Engine::Impl::on(Time, const AdmissionCheckGone& e, Effects&) {
  if (registries.checks.erase(e.name) == 0) return;
  told_finalizers.erase({"AdmissionCheck", e.name});
  configuration_changed = rules_changed = true;
}

void Engine::Impl::on(Time, const NamespaceSeen& e, Effects&) {
  JsonObject labels;
  for (const auto& [key, value] : e.labels) labels[key] = value;
  registries.namespaces[e.name] = std::move(labels);
  mark_namespace(e.name, false);
}

void Engine::Impl::on(Time, const NamespaceGone& e, Effects&) {
  registries.namespaces.erase(e.name);
  mark_namespace(e.name, false);
}

void Engine::Impl::on(Time, const LimitRangeSeen& e, Effects&) {
  registries.limit_ranges[e.ns][e.name] = e.items;
  mark_namespace(e.ns, true);
}

void Engine::Impl::on(Time, const LimitRangeGone& e, Effects&) {
  const auto it = registries.limit_ranges.find(e.ns);
  if (it == registries.limit_ranges.end() || it->second.erase(e.name) == 0) return;
  mark_namespace(e.ns, true);
}

void Engine::Impl::on(Time, const RuntimeClassSeen& e, Effects&) {
  registries.runtime_classes[e.name] = e.overhead;
  mark_namespace("", true);
}

void Engine::Impl::on(Time, const RuntimeClassGone& e, Effects&) {
  if (registries.runtime_classes.erase(e.name) != 0) mark_namespace("", true);
}

// "" means all namespaces. `pods_changed`: what a workload requests must be computed again.
void Engine::Impl::mark_namespace(std::string_view ns, bool pods_changed) {
  std::vector<Tracked*> found;
  workloads.for_each([&](Tracked& t) {
    if (ns.empty() || t.base->meta.ns == ns) found.push_back(&t);
  });
  for (Tracked* t : found) {
    if (pods_changed) t->asks.reset();
    workloads.mark(*t);
  }
}

void Engine::Impl::on(Time, const TopologySeen& e, Effects&) {
  registries.topologies[e.object->meta.name] = e.object;
  scheduler.set_topology(*e.object);
  configuration_changed = rules_changed = true;
}

void Engine::Impl::on(Time, const TopologyGone& e, Effects&) {
  if (registries.topologies.erase(e.name) == 0) return;
  told_finalizers.erase({"Topology", e.name});
  scheduler.remove_topology(e.name);
  configuration_changed = rules_changed = true;
}

void Engine::Impl::on(Time, const NodeSeen& e, Effects&) {
  scheduler.set_node(*e.object);
  mark_all(nodes.set_node(e.object));
}

void Engine::Impl::on(Time, const NodeGone& e, Effects&) {
  scheduler.remove_node(e.name);
  mark_all(nodes.remove_node(e.name));
}

void Engine::Impl::on(Time, const PodSeen& e, Effects&) {
  scheduler.set_pod(*e.object);
  mark_all(nodes.set_pod(e.object));
}

void Engine::Impl::on(Time, const PodGone& e, Effects&) {
  scheduler.remove_pod(e.uid);
  mark_all(nodes.remove_pod(e.uid));
}

void Engine::Impl::mark_all(const std::vector<WorkloadId>& concerned) {
  for (const WorkloadId id : concerned) {
    if (Tracked* t = workloads.find(id)) workloads.mark(*t);
  }
}

void Engine::Impl::on(Time, const CheckReported& e, Effects&) {
  Tracked* t = workloads.find(api::object_key(e.ns, e.name));
  if (t == nullptr) return;
  const auto state = lifecycle::state_of(*t->now);
  if (state != lifecycle::State::kReserved && state != lifecycle::State::kAdmitted) return;
  const auto& listed = t->now->status.admission_checks;
  if (std::ranges::find(listed, e.state.name, &api::kueue::AdmissionCheckState::name) == listed.end()) return;
  auto& known = t->check_reports[e.state.name];
  if (known == e.state) return;
  known = e.state;
  workloads.mark(*t);
}

void Engine::Impl::on(Time now, const WorkloadSeen& e, Effects&) {
  const Workload& seen = *e.object;
  const std::string key = api::object_key(seen.meta);
  retention.seen(e.object);
  Tracked* t = workloads.find(key);
  if (t != nullptr && t->base->meta.uid != seen.meta.uid) {
    forget(*t, now);
    t = nullptr;
  }
  if (t == nullptr) {
    if (lifecycle::state_of(seen) == lifecycle::State::kFinished) return;
    t = &workloads.insert(key, scheduler.enter(seen.meta.uid, job_uid_of(seen), key));
    accept(*t, e.object);
    return;
  }
  if (older(seen.meta.resource_version, t->base->meta.resource_version)) return;
  if (!t->in_flight) {
    accept(*t, e.object);
  } else if (!t->newer || older(t->newer->meta.resource_version, seen.meta.resource_version)) {
    t->newer = e.object;
  }
}

void Engine::Impl::on(Time now, const WorkloadGone& e, Effects&) {
  retention.gone(api::object_key(e.ns, e.name), e.uid);
  Tracked* t = workloads.find(api::object_key(e.ns, e.name));
  if (planted(Planted::kKeptClaim)) return;
  if (t != nullptr && (e.uid.empty() || t->base->meta.uid == e.uid)) forget(*t, now);
}

void Engine::Impl::on(Time, const JobReported& e, Effects&) {
  Tracked* t = workloads.find(api::object_key(e.ns, e.name));
  if (t == nullptr || t->report == e.report) return;
  t->report = e.report;
  workloads.mark(*t);
}

void Engine::Impl::on(Time now, const WriteSettled& e, Effects& out) {
  const auto it = writes.find(e.write);
  if (it == writes.end()) return;  // its workload is gone
  Tracked& t = *it->second;
  writes.erase(it);
  InFlight settled = std::move(*t.in_flight);
  t.in_flight.reset();
  leisure.settled(settled.message, now);
  workloads.mark(t);
  if (e.outcome != WriteSettled::Outcome::kDone) {
    // The events belong to the status, which may be written again.
    t.events.insert(t.events.begin(), settled.events.begin(), settled.events.end());
  }
  switch (e.outcome) {
    case WriteSettled::Outcome::kDone:
      write_done(t, settled, e.resource_version, now, out);
      break;
    case WriteSettled::Outcome::kConflict:
      write_conflicted(t, now);
      break;
    case WriteSettled::Outcome::kFailed:
      write_failed(t, now);
      break;
    case WriteSettled::Outcome::kGone:
      forget(t, now);
      break;
  }
}

// The requested wake-up is used up, even if it came early.
void Engine::Impl::on(Time, const TimePassed&, Effects&) { told_wake.reset(); }

void Engine::Impl::on(Time, const UsageRecalled& e, Effects&) {
  scheduler.recall_usage(e.record);
  usage_recalled = true;
}

// Look at everything that was only learned so far.
void Engine::Impl::on(Time now, const Synced&, Effects&) {
  if (!synced) {
    synced_at = now;
    recalls_spared = true;
  }
  synced = configuration_changed = rules_changed = true;
  mark_namespace("", false);
}

}  // namespace berth::engine
