#include "engine/workload_events.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "base/planted.h"
#include "engine/lifecycle/pods_ready.h"
#include "engine/lifecycle/state.h"
#include "engine/slices.h"
#include "engine/transitions.h"
#include "engine/version.h"

namespace berth::engine {

using api::kueue::Workload;

namespace {

// Whether a report about this check of the workload counts.
bool takes_reports(const Tracked& t, const std::string& check) {
  const auto state = lifecycle::state_of(*t.now);
  if (state != lifecycle::State::kReserved && state != lifecycle::State::kAdmitted) return false;
  const auto& listed = t.now.status().admission_checks;
  return std::ranges::find(listed, check, &api::kueue::AdmissionCheckState::name) != listed.end();
}

}  // namespace

void WorkloadEvents::on(Time, const DispatchReported& e, Effects&) {
  Tracked* t = workloads_.find(api::object_key(e.ns, e.name));
  if (t == nullptr || t->base->meta.resource_version != e.resource_version || !takes_reports(*t, e.check.name)) return;
  t->check_reports[e.check.name] = e.check;
  t->clusters = Rare<lifecycle::ClusterReport>({e.check.name, e.cluster_name, e.nominated_cluster_names});
  workloads_.mark(*t);
}

void WorkloadEvents::on(Time, const CheckReported& e, Effects&) {
  Tracked* t = workloads_.find(api::object_key(e.ns, e.name));
  if (t == nullptr || !takes_reports(*t, e.state.name)) return;
  auto& known = t->check_reports[e.state.name];
  if (known == e.state) return;
  known = e.state;
  workloads_.mark(*t);
}

void WorkloadEvents::on(Time now, const WorkloadSeen& e, Effects&) {
  const Workload& seen = *e.object;
  const std::string key = api::object_key(seen.meta);
  retention_.seen(e.object);
  Tracked* t = workloads_.find(key);
  if (t != nullptr && t->base->meta.uid != seen.meta.uid) {
    forget(*t, now);
    t = nullptr;
  }
  if (came_too_late(key, seen)) return;
  if (t == nullptr) {
    if (lifecycle::state_of(seen) == lifecycle::State::kFinished) return;
    t = &workloads_.insert(key, scheduler_.enter(seen.meta.uid, job_uid_of(seen), name_for_pods(seen.meta)));
    writes_.accept(*t, e.object);
    slices_.file(*t);
    return;
  }
  writes_.see(*t, e.object);
}

void WorkloadEvents::on(Time, const DevicesCounted& e, Effects&) {
  Tracked* t = workloads_.find(api::object_key(e.ns, e.name));
  if (t == nullptr || t->base->meta.uid != e.uid) return;
  const bool same = t->devices == e.charge || (t->devices && e.charge && *t->devices == *e.charge);
  if (same) return;
  t->devices = e.charge;
  t->requests.reset();
  workloads_.mark(*t);
}

void WorkloadEvents::on(Time now, const WorkloadGone& e, Effects&) {
  retention_.gone(api::object_key(e.ns, e.name), e.uid);
  ended_.erase(api::object_key(e.ns, e.name));
  Tracked* t = workloads_.find(api::object_key(e.ns, e.name));
  if (planted(Planted::kKeptClaim)) return;
  if (t != nullptr && (e.uid.empty() || t->base->meta.uid == e.uid)) forget(*t, now);
}

void WorkloadEvents::on(Time, const JobReported& e, Effects&) {
  Tracked* t = workloads_.find(api::object_key(e.ns, e.name));
  if (t == nullptr) return;
  api::kueue::JobReport report = e.report;
  if (!lifecycle::waits_for_pods_ready(*t->now, facts_.options.wait_for_pods_ready)) report.pods_ready.reset();
  if (!facts_.options.reclaimable_pods) report.reclaimable.reset();
  if (t->report == report) return;
  t->report = std::move(report);
  workloads_.mark(*t);
}

void WorkloadEvents::on(Time now, const WriteSettled& e, Effects& out) {
  const auto it = writes_.in_flight().find(e.write);
  Tracked* t = it == writes_.in_flight().end() ? nullptr : it->second;
  const bool shown = t != nullptr && t->newer && !older(t->newer->meta.resource_version, e.resource_version);
  if (Tracked* gone = writes_.settle(e, now, out)) {
    ended_[gone->key] = {gone->base->meta.uid, ""};
    return forget(*gone, now);
  }
  if (t == nullptr || shown || e.outcome != WriteSettled::Outcome::kDone) return;
  if (lifecycle::state_of(*t->base) == lifecycle::State::kFinished)
    ended_[t->key] = {t->base->meta.uid, e.resource_version};
}

void WorkloadEvents::on(Time, const NodeSeen& e, Effects&) {
  scheduler_.set_node(*e.object);
  mark_all(nodes_.set_node(e.object));
}

void WorkloadEvents::on(Time, const NodeGone& e, Effects&) {
  scheduler_.remove_node(e.name);
  mark_all(nodes_.remove_node(e.name));
}

void WorkloadEvents::on(Time, const PodSeen& e, Effects&) {
  if (e.object->holds_node()) {
    scheduler_.set_pod(*e.object);
  } else {
    scheduler_.remove_pod(e.object->uid);
  }
  mark_all(nodes_.set_pod(e.object));
  mark(scheduled_pods_.set(e.object));
}

void WorkloadEvents::on(Time, const PodGone& e, Effects&) {
  scheduler_.remove_pod(e.uid);
  mark_all(nodes_.remove_pod(e.uid));
  mark(scheduled_pods_.remove(e.uid));
}

void WorkloadEvents::mark(const std::string& key) {
  if (key.empty()) return;
  if (Tracked* t = workloads_.find(key)) workloads_.mark(*t);
}

void WorkloadEvents::mark_all(const std::vector<WorkloadId>& concerned) {
  for (const WorkloadId id : concerned) {
    if (Tracked* t = workloads_.find(id)) workloads_.mark(*t);
  }
}

bool WorkloadEvents::came_too_late(const std::string& key, const Workload& seen) {
  const auto it = ended_.find(key);
  if (it == ended_.end()) return false;
  const auto& [uid, version] = it->second;
  if (uid == seen.meta.uid && (version.empty() || older(seen.meta.resource_version, version))) return true;
  ended_.erase(it);
  return false;
}

void WorkloadEvents::forget(Tracked& t, Time now) {
  slices_.mark_successors(t);
  if (Tracked* former = slices_.predecessor(t)) workloads_.mark(*former);
  slices_.forget(t);
  writes_.forget(t, now);
  reports_.touch(t);
  nodes_.forget(t.id);
  scheduler_.leave(t.id);
  second_passes_.forget(t);
  workloads_.erase(t);
}

}  // namespace berth::engine
