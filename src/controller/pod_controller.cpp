#include "controller/pod_controller.h"

#include <algorithm>
#include <utility>

#include "api/owners.h"
#include "api/resource_version.h"
#include "base/planted.h"
#include "jobs/compose.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/single_pod.h"
#include "jobs/pods/waiting.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

// There are many pods whose owners have no queue.
bool says_the_same(const jobs::ManagedPod& a, const jobs::ManagedPod& b) {
  return a.ran_before && b.ran_before && a.phase == b.phase && a.bound == b.bound && a.ready == b.ready &&
         a.deletion == b.deletion;
}

bool controlled(const api::kueue::Workload& workload) { return api::controller_of(workload.meta) != nullptr; }

}  // namespace

PodController::PodController(const JobEnvironment& environment, const GroupOwners& owners)
    : environment_(environment),
      shell_(environment.shell),
      owners_(owners),
      facts_(environment.facts),
      awaited_(environment.workloads),
      events_(shell_.events),
      requests_(shell_, environment.metrics, events_, awaited_,
                [this](const jobs::ManagedPodPtr& before, const api::RestResponse& answer) { learn(before, answer); }),
      deleted_(shell_.executor),
      singles_(
          shell_.executor,
          [this](const std::string& key, WorkQueue::Finish finish) { look({What::kSingle, key}, std::move(finish)); },
          Duration(0), nullptr, kLooksInFlight),
      groups_(
          shell_.executor,
          [this](const std::string& key, WorkQueue::Finish finish) { look({What::kGroup, key}, std::move(finish)); },
          shell_.options.ungate_delay, nullptr, kLooksInFlight),
      questions_(shell_, [this](const std::string& key,
                                WorkQueue::Finish finish) { look({What::kGroup, key}, std::move(finish)); }),
      deployments_(
          shell_, [this](const Json& deployment) { return environment_.managed.manages_serving(deployment); },
          [this](const std::string& key, WorkQueue::Finish finish) { look({What::kSingle, key}, std::move(finish)); }) {
  facts_.served_group = [this](std::string_view ns, std::string_view name) { return owners_.group(ns, name); };
}

PodController::~PodController() {
  for (const auto& [unit, timer] : timers_) shell_.executor.cancel(timer);
}

// --- The index of pods and workloads.

// Pods that have a workload go before new ones: their quota waits for them.
void PodController::look_soon(const Unit& unit) {
  if (!started_) return;
  const bool group = unit.what == What::kGroup;
  const bool known = group ? group_workloads_.contains(unit.key) : workloads_.contains(unit.key);
  WorkQueue& queue = group ? groups_ : singles_;
  known ? queue.add_first(unit.key) : queue.add(unit.key);
}

void PodController::put(const jobs::ManagedPodPtr& pod) {
  const Unit unit = unit_of(*pod);
  auto known = pods_.find(pod->uid);
  if (known && unit_of(*known) != unit) {  // it changed its group
    forget(pod->uid);
    known = nullptr;
  }
  if (known && api::version_number(known->version) > api::version_number(pod->version)) return;
  if (known) index_name(unit, *known, false);
  index_name(unit, *pod, true);
  pods_.put(pod);
  if (!known) report_why_it_waits(unit, *pod);
  if (!known || !says_the_same(*known, *pod)) look_soon(unit);
}

void PodController::forget(const std::string& uid) {
  const auto known = pods_.find(uid);
  if (!known) return;
  const Unit unit = unit_of(*known);
  events_.forget(uid);
  index_name(unit, *known, false);
  pods_.erase(*known);
  if (pods_.of(unit).empty() && started_) deleted_.add(unit, [this, unit] { look_soon(unit); });
  look_soon(unit);
}

// Pods that ran before their owner came to a queue count too. Whether it has one is asked at each look.
bool PodController::is_ours(const Json& pod) const { return jobs::belongs_to_berth(pod) || owners_.group_of(pod); }

// The watch brings what the answer to a write told before.
bool PodController::knows(const Json& pod) const {
  const auto known = pods_.find(string_at(pod, {"metadata", "uid"}));
  return known && !known->served && known->version == string_at(pod, {"metadata", "resourceVersion"});
}

jobs::ManagedPodPtr PodController::decode(const Json& pod) {
  return jobs::decode_managed_pod(pod, facts_.gates.identifier_annotations, served_, keep_);
}

void PodController::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const auto uid = [](const Json& pod) { return std::string(string_at(pod, {"metadata", "uid"})); };
  if (old && (!now || uid(*old) != uid(*now))) forget(uid(*old));
  if (!now || knows(*now)) return;
  if (is_ours(*now)) {
    put(decode(*now));
  } else {
    forget(uid(*now));
  }
}

// The answer to a write is newer than the cache. A pod that the cache does not have any more is gone.
void PodController::learn(const jobs::ManagedPodPtr& before, const api::RestResponse& response) {
  if (!pods_.find(before->uid) || string_at(response.body, {"metadata", "uid"}) != before->uid) return;
  if (!is_ours(response.body)) return forget(before->uid);
  put(decode(response.body));
}

std::optional<PodController::PodRef> PodController::pod_of(const api::kueue::Workload& workload) {
  const auto& meta = workload.meta;
  if (const auto* owner = api::controller_of(meta)) {
    if (owner->kind != jobs::kPodKind || owner->api_version != jobs::kPodApiVersion) return std::nullopt;
    return PodRef{api::object_key(meta.ns, owner->name), owner->uid, true};
  }
  const auto label = meta.labels.find(std::string(jobs::kJobUidLabel));
  const auto name = jobs::job_in_name(jobs::kPodKind, meta.name);
  // Any client may write the label. The workloads of pods have the finalizer.
  if (label == meta.labels.end() || !name || !jobs::holds_finalizer(workload)) return std::nullopt;
  return PodRef{api::object_key(meta.ns, *name), label->second, false};
}

// The label may have the UID of a Deployment; the hash in the name is made from that of the pod.
bool PodController::is_of(const api::kueue::Workload& workload, const jobs::ManagedPod& pod) {
  const auto ref = pod_of(workload);
  const auto is_named = [&](bool is_short) { return jobs::workload_name_of(pod, is_short) == workload.meta.name; };
  return ref && (ref->uid == pod.uid || (!ref->controls && (is_named(false) || is_named(true))));
}

bool PodController::owns(const api::kueue::Workload& workload) {
  return jobs::is_group_workload(workload) || pod_of(workload).has_value();
}

void PodController::index(const jobs::WorkloadPtr& workload, bool present) {
  const std::string key = api::object_key(workload->meta);
  const Unit group{What::kGroup, key};
  const bool of_group = jobs::is_group_workload(*workload);
  if (!present) {
    group_workloads_.erase(key);
  } else if (of_group) {
    group_workloads_.insert(key);
  }
  if (of_group || !pods_.of(group).empty()) look_soon(group);
  const auto pod = pod_of(*workload);
  if (!pod) return;
  if (present) {
    auto& filed = workloads_[pod->key];
    filed.insert(std::ranges::upper_bound(filed, workload, OlderWorkload()), workload);
  } else if (const auto it = workloads_.find(pod->key); it != workloads_.end()) {
    std::erase_if(it->second, [&](const auto& one) { return one->meta.uid == workload->meta.uid; });
    if (it->second.empty()) workloads_.erase(it);
  }
  if (present || !planted(Planted::kForgottenPod)) look_soon({What::kSingle, pod->key});
}

void PodController::index_name(const Unit& unit, const jobs::ManagedPod& pod, bool present) {
  if (pod.prebuilt.empty()) return;
  const std::string key = api::object_key(pod.ns, pod.prebuilt);
  if (present) {
    named_by_[key].emplace(pod.uid, unit);
  } else if (const auto it = named_by_.find(key); it != named_by_.end()) {
    it->second.erase(pod.uid);
    if (it->second.empty()) named_by_.erase(it);
  }
}

bool PodController::named(const api::kueue::Workload& workload) const {
  return named_by_.contains(api::object_key(workload.meta));
}

// Pods wait for a prebuilt workload that exists and has no other controller. The owner itself is looked at anyway.
void PodController::look_at_those_that_name(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  if (!started_ || named_by_.empty() || (!old && !now)) return;
  if (old && now && controlled(*old) == controlled(*now) && old->meta.deletion == now->meta.deletion) return;
  const auto named = named_by_.find(api::object_key((now ? now : old)->meta));
  if (named == named_by_.end()) return;
  for (const auto& [uid, unit] : named->second) look_soon(unit);
}

void PodController::workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  if (old) index(old, false);
  if (now) index(now, true);
  look_at_those_that_name(old, now);
  const bool other = !old || !now || jobs::finished(*old) != jobs::finished(*now);
  if (const auto& known = now ? now : old; known && other) owners_.workload_changed(known->meta.ns, known->meta.name);
  if (!started_) return;
  if (old && now) report_about_checks(old, now);
  if (now) report_why_they_wait(old, now);
  if (now || !old) return;
  if (const auto pod = awaited_.stop_waiting(api::object_key(old->meta))) look_soon({What::kSingle, *pod});
}

// The pods of the workload, the oldest first.
std::vector<jobs::ManagedPodPtr> PodController::pods_of(const jobs::WorkloadPtr& workload) const {
  Unit unit{What::kGroup, api::object_key(workload->meta)};
  if (const auto pod = pod_of(*workload)) unit = {What::kSingle, pod->key};
  const PodIndex::Pods& known = pods_.of(unit);
  std::vector<jobs::ManagedPodPtr> pods(known.begin(), known.end());
  std::ranges::sort(pods, jobs::older);
  return pods;
}

void PodController::report_about_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  const std::string note = reset_checks(old, now);
  if (note.empty()) return;
  if (const auto pods = pods_of(now); !pods.empty())
    events_.report({false, "UpdatedAdmissionCheck", note}, pods.front());
}

void PodController::report_why_they_wait(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  const auto news = jobs::waiting_news(old, now);
  if (!news) return;
  std::size_t reported = 0;
  for (const auto& pod : pods_of(now)) {
    if (!pod->gated || !pod->runnable()) continue;
    if (++reported > jobs::kReportedPods) break;
    events_.record(*news, *pod, jobs::kWaitingController);
  }
}

// A new pod of a workload that waits already.
void PodController::report_why_it_waits(const Unit& unit, const jobs::ManagedPod& pod) {
  if (!started_ || !pod.gated || !pod.runnable() || pods_.of(unit).size() > jobs::kReportedPods) return;
  jobs::WorkloadPtr workload;
  if (unit.what == What::kGroup) {
    workload = facts_.workload(pod.ns, pod.group);
  } else if (const auto filed = workloads_.find(unit.key); filed != workloads_.end()) {
    const auto own = std::ranges::find_if(filed->second, [&pod](const auto& one) { return is_of(*one, pod); });
    if (own != filed->second.end()) workload = *own;
  }
  if (const auto news = workload ? jobs::waiting_news(nullptr, workload) : std::nullopt)
    events_.record(*news, pod, jobs::kWaitingController);
}

void PodController::owner_changed(const std::string& ns, const std::string& group, bool gone) {
  const Unit unit{What::kGroup, api::object_key(ns, group)};
  if (gone) events_.forget(unit.key);
  if (gone && started_) deleted_.add(unit, [this, unit] { look_soon(unit); });
  look_soon(unit);
}

void PodController::regroup(const std::string& uid) {
  const jobs::ManagedPodPtr pod = pods_.find(uid);
  if (!pod) return;
  const auto group = owners_.group_of(jobs::pod_object(*pod));
  if (!group || *group == pod->group) return;
  auto moved = std::make_shared<jobs::ManagedPod>(*pod);
  moved->group = *group;
  put(moved);
}

void PodController::regroup_all(const std::string& ns, const std::string& group) {
  const PodIndex::Pods pods = pods_.of({What::kGroup, api::object_key(ns, group)});  // a copy: regroup() changes them
  for (const auto& pod : pods) regroup(pod->uid);
}

void PodController::owners_known() {
  for (const auto& key : group_workloads_) look_soon({What::kGroup, key});
}

void PodController::facts_changed() {
  pods_.for_each_unit([this](const Unit& unit) { look_soon(unit); });
}

void PodController::start() {
  started_ = true;
  facts_changed();
  for (const auto& key : sorted_keys(workloads_)) look_soon({What::kSingle, key});
  owners_known();
}

// --- A look.

// Whether a look at the pod makes its workload.
bool PodController::makes_workload_for(const jobs::ManagedPod& pod, const Unit& unit) const {
  return pod.gated && pod.runnable() && !pod.served && pod.prebuilt.empty() && !workloads_.contains(unit.key) &&
         environment_.managed.manages_namespace(pod.ns);
}

// Whose UID the label of the pod's workload gets, if the pod is looked at now; "": its own. nullopt: not known yet, and
// `finish` is taken over.
std::optional<std::string> PodController::job_uid_for(const Unit& unit, const WorkQueue::Finish& finish) {
  const auto& known = pods_.of(unit);
  const bool requests = facts_.gates.deployment_job_uid && shell_.options.manage_deployments && !known.empty() &&
                        jobs::is_of_deployment(**known.begin()) && makes_workload_for(**known.begin(), unit);
  return requests ? deployments_.uid_for(**known.begin(), unit.key, finish) : "";
}

jobs::PodPlan PodController::plan_single(const Unit& unit, const std::string& job_uid) {
  jobs::ManagedPodPtr pod;
  if (const auto& known = pods_.of(unit); !known.empty()) pod = *known.begin();
  if (pod && pod->served && pod->runnable()) return {};  // its owner is not known yet
  std::vector<jobs::WorkloadPtr> mine, lost;
  if (const auto filed = workloads_.find(unit.key); filed != workloads_.end()) {
    for (const auto& workload : filed->second) {
      const PodRef ref = *pod_of(*workload);
      const bool awaited = ref.controls && !workload->meta.deletion && deleted_.contains(unit);
      if (pod && is_of(*workload, *pod)) {
        mine.push_back(workload);
      } else if (!awaited) {
        lost.push_back(workload);
      }
    }
  }
  jobs::JobFacts facts = facts_;
  facts.job_uid = job_uid;
  facts.managed = pod && environment_.managed.manages_namespace(pod->ns);
  facts.workload = [this, &unit](std::string_view ns, std::string_view name) {
    auto workload = facts_.workload(ns, name);
    if (workload) awaited_.wait_for(api::object_key(ns, name), unit.key);
    return workload;
  };
  const Time now = shell_.executor.now();
  jobs::PodPlan plan;
  if (pod) plan = jobs::reconcile_pod(pod, mine, facts, now);
  for (auto& step : jobs::reconcile_pod(nullptr, lost, facts, now).steps) plan.steps.push_back(std::move(step));
  return plan;
}

jobs::PodPlan PodController::plan_group(const Unit& unit) {
  const PodIndex::Pods& known = pods_.of(unit);
  std::vector<jobs::ManagedPodPtr> pods(known.begin(), known.end());
  const auto slash = unit.key.find('/');
  const std::string ns = unit.key.substr(0, slash), name = unit.key.substr(slash + 1);
  jobs::JobFacts facts = facts_;
  // Nothing happens to a workload until its owner is known.
  if (const auto workload = facts.workload(ns, name); workload && owners_.may_be_owned(*workload)) return {};
  const auto owner = owners_.group(ns, name);
  if (!owner && deleted_.contains(unit) && std::ranges::all_of(pods, &jobs::ManagedPod::ran_before)) {
    const auto workload = facts_.workload(ns, name);
    if (workload && !workload->meta.deletion) return {};
  }
  facts.managed = owner ? owner->managed : environment_.managed.manages_namespace(ns);
  return jobs::reconcile_group(ns, name, std::move(pods), facts, shell_.executor.now());
}

void PodController::look_again_at(const Unit& unit, std::optional<Time> when) {
  if (const auto it = timers_.find(unit); it != timers_.end()) {
    shell_.executor.cancel(it->second);
    timers_.erase(it);
  }
  if (!when) return;
  timers_[unit] = shell_.executor.at(*when, [this, unit] {
    timers_.erase(unit);
    look_soon(unit);
  });
}

// Whether the owner of the group's workload is known, or known not to exist.
bool PodController::knows_owner(const std::string& group, const WorkQueue::Finish& finish) {
  const auto slash = group.find('/');
  const auto workload = facts_.workload(group.substr(0, slash), group.substr(slash + 1));
  const bool open =
      workload && !jobs::finished(*workload) && !workload->meta.deletion && !owners_.may_be_owned(*workload);
  const auto unknown = open ? owners_.unknown_owner(*workload) : std::nullopt;
  if (!unknown) questions_.forget(group);
  return !unknown || questions_.is_absent(group, *unknown, finish);
}

void PodController::look(const Unit& unit, WorkQueue::Finish finish) {
  if (awaited_.hidden(unit)) return finish(false);  // looked at again when the cache has it, or after a delay
  if (unit.what == What::kGroup && !knows_owner(unit.key, finish)) return;
  const auto job_uid = unit.what == What::kSingle ? job_uid_for(unit, finish) : std::string();
  if (!job_uid) return;
  jobs::PodPlan plan = unit.what == What::kGroup ? plan_group(unit) : plan_single(unit, *job_uid);
  look_again_at(unit, plan.look_again);
  requests_.carry_out(unit, std::move(plan), std::move(finish));
}

}  // namespace berth::controller
