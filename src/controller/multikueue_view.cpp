// What MultiKueue sees of one workload, as the pure dispatch takes it.
#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/owners.h"
#include "controller/dispatch_activity.h"
#include "controller/multikueue.h"
#include "multikueue/copy.h"
#include "multikueue/names.h"
#include "multikueue/remote_job.h"

namespace berth::controller {

using api::kueue::CheckState;
using multikueue::CopyState;

namespace {

Time transition_of(const api::Conditions& conditions, std::string_view type) {
  const auto* found = api::find_condition(conditions, type);
  return found == nullptr ? Time{} : found->last_transition;
}

std::string dotted(const multikueue::RemoteKind::Path& path) {
  std::string out;
  for (const auto& name : path) out += (out.empty() ? "" : ".") + name;
  return out;
}

// As Kueue writes a kind: "apps/v1, Kind=StatefulSet".
std::string no_adapter_for(const api::OwnerReference& owner) {
  return "No multikueue adapter found for owner kind \"" + owner.api_version + ", Kind=" + owner.kind + "\"";
}

}  // namespace

bool MultiKueueController::is_ours(const std::string& check) const {
  const auto known = known_checks_.get(check);
  return known && known->controller_name == api::kueue::kMultiKueueController;
}

// Finds the check and the clusters that it names. False: something is missing that may come, so nothing is done.
bool MultiKueueController::read_check(View& view, std::vector<std::string>& configured) const {
  multikueue::Local& local = view.local;
  local.other_checks_ready = true;
  bool found = false;
  for (const auto& state : view.workload->status.admission_checks) {
    const auto check = known_checks_.get(state.name);
    if (!check) return false;
    if (!found && check->controller_name == api::kueue::kMultiKueueController) {
      found = true;
      view.check = state;
      local.check = state.state;
      if (state.state == CheckState::kPending)
        local.dispatch_since = std::max(local.dispatch_since, state.last_transition);
      auto clusters = clusters_of(*check, [this](std::string_view name) { return configs_.get(name); });
      if (!clusters) return false;
      configured = std::move(*clusters);
    } else {
      local.other_checks_ready = local.other_checks_ready && state.state == CheckState::kReady;
      local.dispatch_since = std::max(local.dispatch_since, state.last_transition);
    }
  }
  if (!found) local.quota_reserved = false;  // it does not wait for other clusters any more: what is there is garbage
  return true;
}

void MultiKueueController::read_job(View& view) const {
  const auto& meta = view.workload->meta;
  multikueue::Local& local = view.local;
  const auto* owner = api::controller_of(meta);
  view.kind = owner == nullptr ? nullptr : kind_of(owner->api_version, owner->kind);
  if (view.kind == nullptr) {
    local.refusal = owner == nullptr ? std::string("No multikueue adapter found") : no_adapter_for(*owner);
    return;
  }
  const multikueue::RemoteKind& rules = view.kind->rules;
  view.job = view.kind->jobs->get(api::object_key(meta.ns, owner->name));
  if (view.job && string_at(*view.job, {"metadata", "uid"}) != owner->uid) view.job = nullptr;
  if (!view.job) return;
  local.job_active = view.kind->adapter->active(*view.job);
  const std::string by = rules.managed_by_of(*view.job);
  if (by != api::kueue::kMultiKueueController)
    local.refusal = "The owner is not managed by Kueue: Expecting " + dotted(rules.managed_by) + " to be \"" +
                    std::string(api::kueue::kMultiKueueController) + "\" not \"" + by + "\"";
  const bool elastic = shell_.options.engine.elastic_jobs && view.kind->adapter->may_be_elastic() &&
                       string_at(*view.job, {"metadata", "annotations", api::kueue::kElasticJob}) == "true";
  if (elastic) local.refusal = "Elastic jobs are not dispatched to other clusters";
}

// Of a workload that is gone, its copies tell which kind its job has there.
void MultiKueueController::read_kind_of_copies(View& view, const std::string& key) {
  for (const WorkerCluster* cluster : clusters_.all()) {
    const auto copy = view.kind == nullptr ? cluster->copy(key) : nullptr;
    if (copy) view.kind = kind_of(copy->owner_version, copy->owner_kind);
  }
}

bool MultiKueueController::is_job_of(const View& view, const multikueue::SeenJob& job) {
  if (!view.job) return true;
  return job.kind == &view.kind->rules && job.meta.name == string_at(*view.job, {"metadata", "name"});
}

multikueue::Cluster MultiKueueController::cluster_state(const std::string& name, bool configured, const View& view,
                                                        const std::string& key) {
  multikueue::Cluster out;
  out.name = name;
  out.configured = configured;
  out.lost_since = clusters_.lost_since(name);
  const WorkerCluster* cluster = clusters_.find(name);
  out.connected = cluster != nullptr && cluster->connected();
  if (cluster != nullptr && view.kind != nullptr) {
    const multikueue::RemoteKind& kind = view.kind->rules;
    out.connected = cluster->knows(kind);
    out.lost_since = cluster->unknown_since(kind);
    out.no_kind = !cluster->has(kind);
    out.closed = !cluster->takes(kind);
  }
  // It was there when it was chosen, however long it had been away before.
  if (view.check.state == CheckState::kReady && name == view.local.cluster_name)
    out.lost_since = std::max(out.lost_since, view.check.last_transition);
  if (!out.connected) return out;
  if (const auto copy = cluster->copy(key)) {
    out.copy = multikueue::state_of(*copy, view.workload.get(), shell_.options.multikueue.origin);
    out.admitted_since = multikueue::admitted_since(*copy);
  } else if (cluster->foreign_copy(key)) {
    out.copy = CopyState::kForeign;
  }
  for (const auto& job : cluster->jobs(key)) {
    if (!is_job_of(view, *job)) continue;
    out.job = true;
    out.job_active = job->active;
    out.job_ended = job->ended || !job->status;
    out.job_outdated =
        view.job && cluster->lets_change(*job->kind) && !multikueue::sync_patch(*view.job, *job).is_null();
  }
  out.foreign_job = !out.job && cluster->foreign_job(key);
  return out;
}

std::optional<MultiKueueController::View> MultiKueueController::view_of(const std::string& key) {
  View view;
  view.workload = known_workloads_.find(key);
  multikueue::Local& local = view.local;
  std::vector<std::string> configured;
  if (!view.workload) {
    if (!confirmed_gone_.contains(key)) return std::nullopt;
    local.deleted = true;
  } else {
    const auto& status = view.workload->status;
    local.deleted = view.workload->meta.deletion.has_value();
    local.finished = api::is_true(status.conditions, api::kueue::kFinished);
    local.quota_reserved = api::is_true(status.conditions, api::kueue::kQuotaReserved);
    local.evicted = api::is_true(status.conditions, api::kueue::kEvicted);
    local.cluster_name = status.cluster_name;
    local.nominated = status.nominated_cluster_names;
    local.dispatch_since = transition_of(status.conditions, api::kueue::kQuotaReserved);
    const bool over = local.deleted || local.finished;
    const bool stops = over || local.evicted || !local.quota_reserved;
    if (!read_check(view, configured) && !stops) return std::nullopt;
    read_job(view);
    // The owner is not known: the job's controller lets the workload go, or the cache is behind.
    if (!over && local.quota_reserved && local.refusal.empty() && !view.job) return std::nullopt;
  }
  if (view.kind == nullptr) read_kind_of_copies(view, key);
  const bool is_dispatched = !configured.empty() && local.refusal.empty();
  if (view.kind != nullptr && (is_dispatched || seen_anywhere(key))) clusters_.need(view.kind->rules);
  for (const auto& name : configured) view.clusters.push_back(cluster_state(name, true, view, key));
  for (const WorkerCluster* cluster : clusters_.all()) {
    if (std::ranges::find(configured, cluster->name()) != configured.end()) continue;
    auto state = cluster_state(cluster->name(), false, view, key);
    if (state.connected && (state.copy != CopyState::kNone || state.job)) view.clusters.push_back(std::move(state));
  }
  return view;
}

std::vector<multikueue::Step> MultiKueueController::steps_for(const View& view) const {
  return multikueue::next_steps(shell_.options.multikueue.dispatch, view.local, view.clusters, shell_.executor.now());
}

}  // namespace berth::controller
