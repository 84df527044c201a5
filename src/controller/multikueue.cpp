#include "controller/multikueue.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/owners.h"
#include "api/resources.h"
#include "controller/dispatch_activity.h"
#include "multikueue/names.h"

namespace berth::controller {

using api::kueue::CheckState;
using jobs::WorkloadPtr;

namespace {

bool has_ended(const api::kueue::Workload& workload) {
  return api::is_true(workload.status.conditions, api::kueue::kFinished);
}

bool waits_for_checks(const WorkloadPtr& workload) {
  return workload && !workload->status.admission_checks.empty() && !has_ended(*workload);
}

bool may_have_copies(const api::kueue::Workload& workload) {
  return !workload.status.cluster_name.empty() || !workload.status.nominated_cluster_names.empty();
}

// The uid of this namespace tells clusters apart, and is the same after a restore.
multikueue::Sender sender_of(const Shell& shell, const kube::Informer& namespaces) {
  const JsonPtr system = namespaces.get("kube-system");
  return {shell.options.multikueue.origin, system ? std::string(string_at(*system, {"metadata", "uid"})) : ""};
}

bool is_on_manager(multikueue::Step::Kind kind) {
  return kind != multikueue::Step::Kind::kCreateCopy && kind != multikueue::Step::Kind::kDeleteCopy &&
         kind != multikueue::Step::Kind::kDeactivate && kind != multikueue::Step::Kind::kCreateJob &&
         kind != multikueue::Step::Kind::kUpdateJob;
}

}  // namespace

MultiKueueController::MultiKueueController(Shell& shell, const DecodedWorkloads& workloads, Checks& checks,
                                           std::vector<DispatchedKind> kinds, const kube::Informer& namespaces)
    : shell_(shell),
      known_workloads_(workloads),
      known_checks_(checks),
      kinds_(std::move(kinds)),
      sender_([&shell, &namespaces] { return sender_of(shell, namespaces); }),
      configs_(shell.client, shell.executor, api::kMultiKueueConfigs, shell.informer_options()),
      clusters_(shell, sender_,
                {[this](const std::string& key) { workloads_.add(key); }, [this](const std::string&) { look_at_all(); },
                 [this](WorkerCluster& cluster, const std::string& key, WorkQueue::Finish finish) {
                   act_on(cluster, key, std::move(finish));
                 }}),
      workloads_(
          shell.executor, [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); },
          Duration(0), nullptr, kLooksInFlight),
      checks_(shell.executor,
              [this](const std::string& key, WorkQueue::Finish finish) { write_active(key, std::move(finish)); }) {
  clusters_.need(kinds_.front().rules);
  configs_.on_change([this](const JsonPtr&, const JsonPtr&) { look_at_all(); });
  configs_.on_synced([this] { look_at_all(); });
  checks.on_change(lifetime_.guard([this](const std::string& name, const auto&, const auto&) { check_changed(name); }));
  for (const DispatchedKind& kind : kinds_) {
    kind.jobs->on_change(
        lifetime_.guard([this, &kind](const JsonPtr& old, const JsonPtr& now) { job_changed(kind, old, now); }));
  }
}

MultiKueueController::~MultiKueueController() {
  for (const auto& [key, wake_up] : wake_ups_) shell_.executor.cancel(wake_up.second);
}

void MultiKueueController::start() {
  may_start_ = shell_.options.jobs.multikueue;
  for (const auto& [name, check] : known_checks_.all()) needed_ = needed_ || is_ours(name);
  start_if_needed();
}

// A cluster without such a check pays for no watch, unless an earlier check left copies on workers.
void MultiKueueController::start_if_needed() {
  if (started_ || !may_start_ || !needed_) return;
  started_ = true;
  configs_.start();
  clusters_.start();
  sweep();
}

bool MultiKueueController::ready() const { return started_ && !draining_ && configs_.synced() && clusters_.ready(); }

// Each answer, and the end of a connection, lets the token go.
std::function<void()> MultiKueueController::drain(std::function<void()> done) {
  constexpr Duration kAwaitWorkers = std::chrono::seconds(5);
  draining_ = true;
  if (!started_) return done;
  const std::function<void()> part = [left = std::make_shared<int>(2), done = std::move(done)] {
    if (--*left == 0) done();
  };
  const auto once = std::make_shared<std::function<void()>>(part);
  const auto finish = [once] {
    if (*once) std::exchange(*once, {})();
  };
  const std::shared_ptr<void> token(nullptr, [finish, &executor = shell_.executor](void*) { executor.post(finish); });
  for (WorkerCluster* cluster : clusters_.all()) cluster->close(token);
  shell_.executor.after(kAwaitWorkers, finish);
  return part;
}

// --- Changes in the caches.

bool MultiKueueController::seen_anywhere(const std::string& key) {
  for (const WorkerCluster* cluster : clusters_.all()) {
    if (cluster->copy(key) || !cluster->jobs(key).empty()) return true;
  }
  return false;
}

void MultiKueueController::workload_changed(const std::string& key, const WorkloadPtr& old, const WorkloadPtr& now) {
  if (now) confirmed_gone_.erase(key);
  if (!now || has_ended(*now)) refused_statuses_.erase(key);
  if (waits_for_checks(now)) {
    with_checks_.insert(key);
    if (const auto* owner = api::controller_of(now->meta)) workload_of_job_[owner->uid] = key;
  } else if (with_checks_.erase(key) > 0 && old) {
    if (const auto* owner = api::controller_of(old->meta)) workload_of_job_.erase(owner->uid);
  }
  needed_ = needed_ || (now && may_have_copies(*now));
  start_if_needed();
  if (!started_) return;
  count_change(key, old, now);
  if (waits_for_checks(old) || waits_for_checks(now) || seen_anywhere(key)) workloads_.add(key);
}

void MultiKueueController::check_changed(const std::string& name) {
  needed_ = needed_ || is_ours(name);
  start_if_needed();
  if (!started_) return;
  checks_.add(name);
  for (const auto& key : with_checks_) workloads_.add(key);
}

const DispatchedKind* MultiKueueController::kind_of(std::string_view api_version, std::string_view kind) const {
  const auto it = std::ranges::find_if(kinds_, [&](const DispatchedKind& one) {
    return one.rules.kind == kind && one.rules.api_version() == api_version;
  });
  return it == kinds_.end() ? nullptr : &*it;
}

void MultiKueueController::job_changed(const DispatchedKind& kind, const JsonPtr& old, const JsonPtr& now) {
  const Json& job = now ? *now : *old;
  if (!started_ || kind.rules.managed_by_of(job) != api::kueue::kMultiKueueController) return;
  const auto found = workload_of_job_.find(string_at(job, {"metadata", "uid"}));
  if (found != workload_of_job_.end()) workloads_.add(found->second);
}

void MultiKueueController::look_at_all() {
  if (!ready()) return;
  for (const auto& [name, check] : known_checks_.all()) {
    if (is_ours(name)) checks_.add(name);
  }
  for (const auto& key : with_checks_) workloads_.add(key);
  for (const WorkerCluster* cluster : clusters_.all()) {
    for (const auto& key : cluster->keys()) workloads_.add(key);
  }
}

// What no change told of: garbage that another client left.
void MultiKueueController::sweep() {
  const Duration every = shell_.options.multikueue.gc_interval;
  if (every <= Duration::zero()) return;
  shell_.executor.after(every, lifetime_.guard([this] {
    for (const WorkerCluster* cluster : clusters_.all()) {
      for (const auto& key : cluster->keys()) workloads_.add(key);
    }
    sweep();
  }));
}

void MultiKueueController::wake_at(const std::string& key, Time when) {
  auto& [due, timer] = wake_ups_[key];
  if (timer != 0 && due == when) return;
  if (timer != 0) shell_.executor.cancel(timer);
  due = when;
  timer = shell_.executor.at(when, lifetime_.guard([this, key] {
    wake_ups_.erase(key);
    workloads_.add(key);
  }));
}

// --- One workload, on the manager.

void MultiKueueController::look(const std::string& key, WorkQueue::Finish finish) {
  if (!ready()) return finish(true);
  const bool unknown = !known_workloads_.find(key) && !confirmed_gone_.contains(key);
  if (!unknown) return act(key, std::move(finish));
  if (!seen_anywhere(key)) return finish(true);
  confirm_gone(key, std::move(finish));
}

// The cache does not keep every workload, and it cannot read every workload. What runs elsewhere is only stopped when
// the API server says that its workload does not exist.
void MultiKueueController::confirm_gone(const std::string& key, WorkQueue::Finish finish) {
  const auto slash = key.find('/');
  const Target target{api::kWorkloads, key.substr(0, slash), key.substr(slash + 1), {}, {}};
  shell_.writes.get(target, lifetime_.guard([this, key, finish = std::move(finish)](const api::RestResponse& response) {
    if (response.ok()) {
      const auto workload = api::kueue::decode_workload(response.body);
      if (!workload || !has_ended(*workload)) return finish(true);
    } else if (response.code != 404) {
      return finish(false);
    }
    confirmed_gone_.insert(key);
    act(key, finish);
  }));
}

void MultiKueueController::act(const std::string& key, WorkQueue::Finish finish) {
  const auto view = view_of(key);
  if (!view) return finish(true);
  if (view->local.deleted && !view->workload && !seen_anywhere(key)) confirmed_gone_.erase(key);
  std::optional<Time> again = retry_of_status(key);
  PlanRunner::Plan plan;
  for (const auto& step : steps_for(*view)) {
    if (step.kind == multikueue::Step::Kind::kRequeue) {
      again = std::min(again.value_or(step.at), step.at);
    } else if (!is_on_manager(step.kind)) {
      if (auto* cluster = clusters_.find(step.cluster)) cluster->look_soon(key);
    } else if (auto request = on_manager(*view, step)) {
      plan.push_back(std::move(*request));
    }
  }
  if (again) wake_at(key, *again);
  runner_.in_order(std::move(plan), PlanRunner::ends(std::move(finish)));
}

void MultiKueueController::report(const View& view, CheckState state, std::string message, std::string cluster,
                                  std::vector<std::string> nominated) {
  if (state == CheckState::kRetry) count_eviction(view);
  engine::DispatchReported event;
  event.ns = view.workload->meta.ns;
  event.name = view.workload->meta.name;
  event.resource_version = view.workload->meta.resource_version;
  event.check.name = view.check.name;
  event.check.state = state;
  event.check.message = std::move(message);
  event.check.retry_count = view.check.retry_count.value_or(0);
  event.cluster_name = std::move(cluster);
  event.nominated_cluster_names = std::move(nominated);
  shell_.feed(event);
}

std::optional<PlannedRequest> MultiKueueController::on_manager(const View& view, const multikueue::Step& step) {
  switch (step.kind) {
    case multikueue::Step::Kind::kNominate:
      return PlannedRequest::without(
          [this, view, step] { report(view, view.local.check, view.check.message, {}, step.names); });
    case multikueue::Step::Kind::kChoose:
      return PlannedRequest::without(
          [this, view, step] { report(view, CheckState::kReady, step.message, step.cluster, {}); });
    case multikueue::Step::Kind::kSetCheck:
      return PlannedRequest::without([this, view, step] {
        report(view, step.check, step.message, view.local.cluster_name, view.local.nominated);
      });
    case multikueue::Step::Kind::kSyncStatus:
      return sync_status(view, step.cluster);
    case multikueue::Step::Kind::kFinish:
      return finish_with(view, step.cluster);
    case multikueue::Step::Kind::kRelease:
      return release(view);
    default:
      return std::nullopt;
  }
}

// --- The AdmissionCheck objects.

ClusterState MultiKueueController::state_of_cluster(const std::string& name) {
  const WorkerCluster* cluster = clusters_.find(name);
  if (cluster == nullptr) return ClusterState::kMissing;
  if (cluster->is_active()) return ClusterState::kActive;
  return cluster->says().reason.empty() ? ClusterState::kUnknown : ClusterState::kInactive;
}

std::optional<api::Condition> MultiKueueController::activity_of(const api::kueue::AdmissionCheck& check) {
  return dispatch_activity(check, clusters_of(check, [this](std::string_view name) { return configs_.get(name); }),
                           [this](const std::string& name) { return state_of_cluster(name); });
}

void MultiKueueController::write_active(const std::string& name, WorkQueue::Finish finish) {
  const auto check = known_checks_.get(name);
  if (!check || !is_ours(name) || !ready()) return finish(true);
  auto active = activity_of(*check);
  if (!active) return finish(true);
  active->last_transition = to_seconds(shell_.executor.now());
  api::Conditions conditions = check->conditions;
  if (!api::set_condition(conditions, std::move(*active))) return finish(true);
  shell_.writes.patch(
      Target::of(api::kAdmissionChecks, check->meta), "status",
      JsonObject{{"status", JsonObject{{"conditions", api::encode_conditions(conditions)}}}},
      lifetime_.guard([finish](const api::RestResponse& response) { finish(response.ok() || response.code == 404); }));
}

}  // namespace berth::controller
