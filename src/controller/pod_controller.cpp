#include "controller/pod_controller.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/resource_version.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "base/planted.h"
#include "controller/ownerless_workloads.h"
#include "jobs/compose.h"
#include "jobs/pods/pod_group.h"
#include "jobs/pods/served_group.h"
#include "jobs/pods/single_pod.h"
#include "jobs/pods/waiting.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

constexpr std::size_t kPodsInFlight = 16;  // requests at a time for the pods of one group
// Single pods that are looked at at the same time. Requests that wait to be sent take memory, and they delay decisions.
constexpr std::size_t kSinglesInFlight = 128;
constexpr int kInvalid = 422;

Target target_of(const jobs::ManagedPod& pod) { return {api::kPods, pod.ns, pod.name, pod.uid, pod.version}; }

// There are many pods whose owners have no queue.
bool says_the_same(const jobs::ManagedPod& a, const jobs::ManagedPod& b) {
  return a.ran_before && b.ran_before && a.phase == b.phase && a.bound == b.bound && a.ready == b.ready &&
         a.deletion == b.deletion;
}

bool controlled(const api::kueue::Workload& workload) {
  return std::ranges::any_of(workload.meta.owners, &api::OwnerReference::controller);
}

}  // namespace

// The steps and actions of one look, and the answers that are still out.
struct PodController::Batch {
  Unit unit;
  jobs::PodPlan plan;
  std::size_t next = 0, running = 0;
  bool ok = true;
  WorkQueue::Finish finish;
};

PodController::PodController(Context context)
    : context_(std::move(context)),
      deleted_(context_.executor),
      singles_(
          context_.executor,
          [this](const std::string& key, WorkQueue::Finish finish) { look({What::kSingle, key}, std::move(finish)); },
          Duration(0), nullptr, kSinglesInFlight),
      groups_(
          context_.executor,
          [this](const std::string& key, WorkQueue::Finish finish) { look({What::kGroup, key}, std::move(finish)); },
          context_.group_delay) {}

PodController::~PodController() {
  *alive_ = false;
  for (const auto& [unit, timer] : timers_) context_.executor.cancel(timer);
}

// --- The index of pods and workloads.

void PodController::look_soon(const Unit& unit) {
  if (started_) (unit.what == What::kGroup ? groups_ : singles_).add(unit.key);
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
  if (!known || !says_the_same(*known, *pod)) look_soon(unit);
}

void PodController::forget(const std::string& uid) {
  const auto known = pods_.find(uid);
  if (!known) return;
  const Unit unit = unit_of(*known);
  warned_.erase(uid);
  index_name(unit, *known, false);
  pods_.erase(*known);
  if (pods_.of(unit).empty() && started_) deleted_.add(unit, [this, unit] { look_soon(unit); });
  look_soon(unit);
}

// Pods that ran before their owner came to a queue count too. Whether it has one is asked at each look.
bool PodController::is_ours(const Json& pod) const {
  return jobs::belongs_to_berth(pod) || (context_.served && context_.served(pod));
}

// The watch brings what the answer to a write told before.
bool PodController::knows(const Json& pod) const {
  const auto known = pods_.find(string_at(pod, {"metadata", "uid"}));
  return known && !known->served && known->version == string_at(pod, {"metadata", "resourceVersion"});
}

jobs::ManagedPodPtr PodController::decode(const Json& pod) {
  return jobs::decode_managed_pod(pod, context_.facts.gates.identifier_annotations, context_.served, keep_);
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
  for (const auto& owner : meta.owners) {
    if (owner.controller && owner.kind == jobs::kPodKind && owner.api_version == jobs::kPodApiVersion)
      return PodRef{api::object_key(meta.ns, owner.name), owner.uid, true};
  }
  if (controlled(workload)) return std::nullopt;
  const auto label = meta.labels.find(std::string(jobs::kJobUidLabel));
  const auto name = jobs::job_in_name(jobs::kPodKind, meta.name);
  if (label == meta.labels.end() || !name) return std::nullopt;
  return PodRef{api::object_key(meta.ns, *name), label->second, false};
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
    workloads_[pod->key].insert(workload);
  } else if (const auto it = workloads_.find(pod->key); it != workloads_.end()) {
    it->second.erase(workload);
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
  if (!started_) return;
  if (old && now) tell_about_checks(old, now);
  if (now) tell_why_they_wait(old, now);
  if (now || !old) return;
  if (const auto it = awaited_names_.find(api::object_key(old->meta)); it != awaited_names_.end()) {
    look_soon({What::kSingle, it->second});
    awaited_names_.erase(it);
  }
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

void PodController::tell_about_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  const std::string note = reset_checks(old, now);
  if (note.empty()) return;
  if (const auto pods = pods_of(now); !pods.empty()) tell({false, "UpdatedAdmissionCheck", note}, pods.front());
}

void PodController::tell_why_they_wait(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  const auto news = jobs::waiting_news(old, now);
  if (!news) return;
  std::size_t told = 0;
  for (const auto& pod : pods_of(now)) {
    if (!pod->gated || !pod->runnable()) continue;
    if (++told > jobs::kToldPods) break;
    record(*news, *pod, jobs::kWaitingController);
  }
}

void PodController::owner_changed(const std::string& ns, const std::string& group, bool gone) {
  const Unit unit{What::kGroup, api::object_key(ns, group)};
  if (gone) warned_.erase(unit.key);
  if (gone && started_) deleted_.add(unit, [this, unit] { look_soon(unit); });
  look_soon(unit);
}

void PodController::regroup(const std::string& uid) {
  const jobs::ManagedPodPtr pod = pods_.find(uid);
  if (!pod) return;
  const auto group = context_.served ? context_.served(jobs::pod_object(*pod)) : std::nullopt;
  if (!group || *group == pod->group) return;
  auto moved = std::make_shared<jobs::ManagedPod>(*pod);
  moved->group = *group;
  put(moved);
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
  for (const auto& [key, workloads] : workloads_) {
    look_soon({What::kSingle, key});
  }
  owners_known();
}

// --- A look.

bool PodController::waits_for_its_workload(const Unit& unit) {
  const auto it = created_.find(unit);
  if (it == created_.end()) return false;
  if (!context_.workloads_seen(it->second)) return true;
  created_.erase(it);
  return false;
}

jobs::PodPlan PodController::plan_single(const Unit& unit) {
  jobs::ManagedPodPtr pod;
  if (const auto& known = pods_.of(unit); !known.empty()) pod = *known.begin();
  if (pod && pod->served && pod->runnable()) return {};  // its owner is not known yet
  std::vector<jobs::WorkloadPtr> mine, lost;
  if (const auto filed = workloads_.find(unit.key); filed != workloads_.end()) {
    for (const auto& workload : filed->second) {
      const PodRef ref = *pod_of(*workload);
      const bool awaited = ref.controls && !workload->meta.deletion && deleted_.contains(unit);
      if (pod && ref.uid == pod->uid) {
        mine.push_back(workload);
      } else if (!awaited) {
        lost.push_back(workload);
      }
    }
  }
  jobs::JobFacts facts = context_.facts;
  facts.managed = pod && context_.manages_namespace(pod->ns);
  facts.workload = [this, &unit](std::string_view ns, std::string_view name) {
    auto workload = context_.facts.workload(ns, name);
    if (workload) awaited_names_[api::object_key(ns, name)] = unit.key;
    return workload;
  };
  const Time now = context_.executor.now();
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
  jobs::JobFacts facts = context_.facts;
  if (context_.owner_unknown) {
    const auto workload = facts.workload(ns, name);
    if (workload && context_.owner_unknown(*workload)) return {};
  }
  const auto owner = facts.served_group ? facts.served_group(ns, name) : nullptr;
  if (!owner && deleted_.contains(unit) && std::ranges::all_of(pods, &jobs::ManagedPod::ran_before)) {
    const auto workload = context_.facts.workload(ns, name);
    if (workload && !workload->meta.deletion) return {};
  }
  facts.managed = owner ? owner->managed : context_.manages_namespace(ns);
  return jobs::reconcile_group(ns, name, std::move(pods), facts, context_.executor.now());
}

void PodController::look_again_at(const Unit& unit, std::optional<Time> when) {
  if (const auto it = timers_.find(unit); it != timers_.end()) {
    context_.executor.cancel(it->second);
    timers_.erase(it);
  }
  if (!when) return;
  timers_[unit] = context_.executor.at(*when, [this, unit] {
    timers_.erase(unit);
    look_soon(unit);
  });
}

void PodController::look(const Unit& unit, WorkQueue::Finish finish) {
  if (waits_for_its_workload(unit)) return finish(false);  // looked at again when the cache has it, or after a delay
  auto batch = std::make_shared<Batch>();
  batch->unit = unit;
  batch->plan = unit.what == What::kGroup ? plan_group(unit) : plan_single(unit);
  batch->finish = std::move(finish);
  look_again_at(unit, batch->plan.look_again);
  take_steps(batch, 0);
}

// --- The requests of a look.

void PodController::create_workload(const std::shared_ptr<Batch>& batch, std::size_t next, Json object) {
  const std::string ns(string_at(object, {"metadata", "namespace"})), name = api::object_key(object);
  if (batch->unit.what == What::kSingle) awaited_names_[name] = batch->unit.key;
  context_.writes.create(
      api::kWorkloads, ns, std::move(object),
      [this, alive = alive_, batch, next, name](const api::RestResponse& answer) {
        if (!*alive) return;
        // Either ours, which the cache does not show yet, or another client's: the pods are looked at again when that
        // workload changes.
        if (api::status_reason(answer) == "AlreadyExists") return batch->finish(true);
        if (answer.ok()) created_[batch->unit] = string_at(answer.body, {"metadata", "resourceVersion"});
        const bool never = refused_by_terminating_namespace(answer);
        if (answer.ok() || never) awaited_names_.erase(name);
        if (never) return batch->finish(true);
        if (answer.ok()) return take_steps(batch, next + 1);
        if (answer.code == kInvalid) {  // for example a role that is no name; only another pod helps
          tell(jobs::cannot_compose(std::string(api::status_message(answer))), batch->plan);
          return batch->finish(true);
        }
        log::warn("a workload could not be created",
                  {{"name", name}, {"code", answer.code}, {"why", std::string(api::status_message(answer))}});
        batch->finish(false);
      });
}

void PodController::take_steps(const std::shared_ptr<Batch>& batch, std::size_t next) {
  while (next < batch->plan.steps.size()) {
    jobs::Step& step = batch->plan.steps[next];
    // `gone_is_fine`: a 404 is a success, because the object to delete is already gone.
    const auto then = [this, batch, next](bool gone_is_fine) {
      return [this, alive = alive_, batch, next, gone_is_fine](const api::RestResponse& answer) {
        if (!*alive) return;
        if (answer.ok() || (gone_is_fine && answer.code == 404)) return take_steps(batch, next + 1);
        batch->finish(false);
      };
    };
    const bool waits = std::visit(
        Overloaded{
            [&](jobs::CreateWorkload& s) {
              create_workload(batch, next, std::move(s.object));
              return true;
            },
            [&](jobs::DeleteWorkload& s) {
              context_.writes.remove(Target::of(api::kWorkloads, s.workload->meta), then(true));
              return true;
            },
            [&](jobs::DropWorkloadFinalizer& s) {
              drop_workload_finalizer(context_.writes, *s.workload, then(true));
              return true;
            },
            [&](jobs::UpdateWorkload& s) {
              context_.writes.patch(Target::of(api::kWorkloads, s.workload->meta), "", std::move(s.patch), then(false));
              return true;
            },
            [&](jobs::ReportJob& s) {
              context_.feed(engine::JobReported{s.workload->meta.ns, s.workload->meta.name, s.report});
              return false;
            },
            [&](jobs::PatchJob&) { return false; },  // plans for pods have actions instead
            [&](jobs::JobEvent& s) {
              tell(s, batch->plan);
              return false;
            },
        },
        step);
    if (waits) return;
    ++next;
  }
  pump(batch);
}

void PodController::pump(const std::shared_ptr<Batch>& batch) {
  const auto& actions = batch->plan.actions;
  while (batch->next < actions.size() && batch->running < kPodsInFlight) {
    ++batch->running;
    act(batch, actions[batch->next++]);
  }
  if (batch->running == 0 && batch->finish) std::exchange(batch->finish, {})(batch->ok);
}

void PodController::act(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action) {
  if (!action.patch) return remove_pod(batch, action);
  context_.writes.patch(target_of(*action.pod), action.patch->subresource, action.patch->body,
                        [this, alive = alive_, batch, &action](const api::RestResponse& answer) {
                          if (!*alive) return;
                          if (!answer.ok()) return done(batch, action, &answer);
                          if (action.admitted_by && context_.gate_removed)
                            context_.gate_removed(*action.admitted_by, *action.pod);
                          if (!action.remove) learn(action.pod, answer);
                          remove_pod(batch, action);
                        });
}

void PodController::remove_pod(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action) {
  if (!action.remove)
    return context_.executor.post([this, alive = alive_, batch, &action] {
      if (*alive) done(batch, action, nullptr);
    });
  context_.writes.remove(target_of(*action.pod),
                         [this, alive = alive_, batch, &action](const api::RestResponse& answer) {
                           if (!*alive) return;
                           if (answer.ok()) learn(action.pod, answer);
                           done(batch, action, answer.ok() ? nullptr : &answer);
                         });
}

// `failed`: the answer that refused a request. 404: the pod is gone.
void PodController::done(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action,
                         const api::RestResponse* failed) {
  --batch->running;
  if (failed == nullptr) {
    if (action.event) tell(*action.event, action.pod);
  } else if (failed->code != 404) {
    batch->ok = false;
    if (failed->code != 409) {
      log::warn("a pod could not be changed", {{"pod", api::object_key(action.pod->ns, action.pod->name)},
                                               {"code", failed->code},
                                               {"why", std::string(api::status_message(*failed))}});
    }
  }
  pump(batch);
}

// Warnings are recorded once, not at every look.
void PodController::record(const jobs::JobEvent& event, const std::string& key, const kube::ObjectRef& on,
                           std::string controller) {
  if (event.warning) {
    const std::size_t note = std::hash<std::string>()(event.note);
    if (const auto [last, is_new] = warned_.try_emplace(key, note);
        !is_new && std::exchange(last->second, note) == note)
      return;
  }
  context_.events.record(on, {event.warning, event.reason, event.note, {}, std::move(controller)});
}

void PodController::tell(const jobs::JobEvent& event, const jobs::PodPlan& plan) {
  if (event.about || !plan.owner) return tell(event, plan.speaker);
  const auto& kind = plan.owner->kind;
  const api::ObjectMeta meta = api::decode_meta(*plan.owner->owner);
  record(event, api::object_key(meta.ns, plan.owner->name),
         {kind.api_version(), kind.kind, meta.ns, meta.name, meta.uid, meta.resource_version}, kind.controller);
}

void PodController::tell(const jobs::JobEvent& event, const jobs::ManagedPodPtr& pod) {
  if (event.about) {
    const auto& meta = event.about->meta;
    return context_.events.record(
        {std::string(api::kueue::kGroup) + "/v1beta2", "Workload", meta.ns, meta.name, meta.uid, meta.resource_version},
        {event.warning, event.reason, event.note, {}, std::string(jobs::kPodController)});
  }
  if (!pod) return;
  record(event, pod->uid,
         {std::string(jobs::kPodApiVersion), std::string(jobs::kPodKind), pod->ns, pod->name, pod->uid, pod->version},
         std::string(jobs::kPodController));
}

void PodController::record(const jobs::JobEvent& event, const jobs::ManagedPod& pod, std::string_view controller) {
  context_.events.record(
      {std::string(jobs::kPodApiVersion), std::string(jobs::kPodKind), pod.ns, pod.name, pod.uid, pod.version},
      {event.warning, event.reason, event.note, {}, std::string(controller)});
}

}  // namespace berth::controller
