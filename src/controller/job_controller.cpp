#include "controller/job_controller.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "controller/workload_requests.h"
#include "jobs/compose.h"
#include "jobs/follow_workload.h"
#include "jobs/prebuilt.h"
#include "jobs/slices.h"
#include "jobs/workload_name.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

constexpr int kInvalidObject = 422;

}  // namespace

JobController::JobController(const jobs::JobAdapter& adapter, const JobEnvironment& environment, kube::Informer& jobs,
                             Rules rules)
    : adapter_(adapter),
      environment_(environment),
      shell_(environment.shell),
      jobs_(jobs),
      rules_(std::move(rules)),
      deleted_(shell_.executor),
      queue_(
          shell_.executor, [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); },
          Duration(0), nullptr, kLooksInFlight),
      questions_(shell_, [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }),
      patches_(shell_, adapter.kind().resource,
               [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }) {
  queue_.line_by([this](const std::string& key) { return line_of(key); });
}

// The local queue of the job, as far as it is known.
std::string JobController::line_of(const std::string& key) const {
  std::string line = key.substr(0, key.find('/'));
  if (const auto filed = workloads_.find(key); filed != workloads_.end()) {
    line.append("/").append((*filed->second.begin())->queue_name);
  } else if (const JsonPtr job = jobs_.get(key)) {
    line.append("/").append(string_at(*job, {"metadata", "labels", api::kueue::kQueueLabel}));
  }
  return line;
}

// Jobs that have a workload go before new ones: their quota waits for them.
void JobController::look_soon(const std::string& key) {
  workloads_.contains(key) ? queue_.add_first(key) : queue_.add(key);
}

void JobController::job_changed(const JsonPtr& old, const JsonPtr& now) {
  if (old) index_name(*old, false);
  if (now) index_name(*now, true);
  if (!started_) return;
  look_soon(api::object_key(now ? *now : *old));
  if (now) return;
  const std::string key = api::object_key(*old);
  deleted_.add(key, [this, key] { look_soon(key); });
  // The workload that the job named may be an orphan now.
  const auto name = jobs::prebuilt_workload(*old, shell_.options.jobs.identifier_annotations);
  if (!name.empty()) look_soon(api::object_key(string_at(*old, {"metadata", "namespace"}), name));
}

void JobController::index_name(const Json& job, bool present) {
  const auto name = jobs::prebuilt_workload(job, shell_.options.jobs.identifier_annotations);
  if (name.empty()) return;
  const std::string workload = api::object_key(string_at(job, {"metadata", "namespace"}), name);
  if (present) {
    named_by_[workload].insert(api::object_key(job));
  } else if (const auto it = named_by_.find(workload); it != named_by_.end()) {
    it->second.erase(api::object_key(job));
    if (it->second.empty()) named_by_.erase(it);
  }
}

const api::OwnerReference* JobController::owner_of(const api::kueue::Workload& workload) const {
  const auto* owner = api::controller_of(workload.meta);
  const bool is_job =
      owner != nullptr && owner->kind == adapter_.kind().kind && owner->api_version == adapter_.kind().api_version();
  return is_job ? owner : nullptr;
}

std::optional<JobController::JobRef> JobController::job_of(const api::kueue::Workload& workload) const {
  if (rules_.of_others && rules_.of_others(workload)) return std::nullopt;
  const auto& meta = workload.meta;
  if (const auto* owner = owner_of(workload)) return JobRef{api::object_key(meta.ns, owner->name), owner->uid, true};
  if (api::controller_of(meta) != nullptr) return std::nullopt;
  const auto label = meta.labels.find(std::string(jobs::kJobUidLabel));
  const bool had_job = label != meta.labels.end();
  if (!had_job && !jobs::holds_finalizer(workload)) return std::nullopt;  // created by hand: nothing to do
  // A workload that was made for a job is named after it; a prebuilt workload is stored under its own name.
  const std::string name = jobs::job_in_name(adapter_.kind().kind, meta.name).value_or(meta.name);
  return JobRef{api::object_key(meta.ns, name), had_job ? label->second : std::string(), false};
}

void JobController::index(const jobs::WorkloadPtr& workload, bool present) {
  const auto job = job_of(*workload);
  if (!job) return;
  if (present) {
    workloads_[job->key].insert(workload);
  } else if (const auto it = workloads_.find(job->key); it != workloads_.end()) {
    it->second.erase(workload);
    if (it->second.empty()) workloads_.erase(it);
  }
  if (started_) look_soon(job->key);
}

void JobController::workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  if (old && !now) lost_owner_.erase(old->meta.uid);
  if (old && now && owner_of(*old) != nullptr && !jobs::has_controller(*now)) lost_owner_.insert(now->meta.uid);
  if (old) index(old, false);
  if (now) index(now, true);
  if (!started_ || (!old && !now)) return;
  const auto& meta = (now ? now : old)->meta;
  const auto is_admitted = [](const jobs::WorkloadPtr& workload) {
    return workload && api::is_true(workload->status.conditions, api::kueue::kAdmitted);
  };
  if (is_admitted(old) != is_admitted(now)) {
    for (const auto& job : below_others_) {
      if (job.starts_with(meta.ns + "/")) look_soon(job);
    }
  }
  if (!named_by_.empty()) {
    if (const auto named = named_by_.find(api::object_key(meta)); named != named_by_.end())
      for (const auto& job : named->second) look_soon(job);
  }
  const auto* owner = now ? owner_of(*now) : nullptr;
  if (owner == nullptr) return;
  if (const std::string note = reset_checks(old, now); !note.empty()) {
    const JsonPtr job = jobs_.get(api::object_key(meta.ns, owner->name));
    shell_.events.record({adapter_.kind().api_version(), adapter_.kind().kind, meta.ns, owner->name, owner->uid,
                          job ? std::string(string_at(*job, {"metadata", "resourceVersion"})) : std::string()},
                         {false, "UpdatedAdmissionCheck", note, {}, adapter_.kind().controller});
  }
}

void JobController::workload_gone(const std::string& key) {
  const auto it = awaited_names_.find(key);
  if (it == awaited_names_.end()) return;
  look_soon(it->second);
  awaited_names_.erase(it);
}

void JobController::facts_changed() {
  if (!started_) return;
  for (const auto& job : jobs_.list()) look_soon(api::object_key(*job));
}

void JobController::child_changed(const Json& child) {
  const Json* owner = api::controller_of(child);
  if (!started_ || owner == nullptr || string_at(*owner, {"kind"}) != adapter_.kind().kind ||
      string_at(*owner, {"apiVersion"}) != adapter_.kind().api_version())
    return;
  look_soon(api::object_key(string_at(child, {"metadata", "namespace"}), string_at(*owner, {"name"})));
}

void JobController::start() {
  started_ = true;
  facts_changed();
  for (const auto& key : sorted_keys(workloads_)) look_soon(key);
}

bool JobController::waits_for_its_workload(const std::string& key) {
  const auto it = created_.find(key);
  if (it == created_.end()) return false;
  if (!environment_.workloads.seen(it->second)) return true;
  created_.erase(it);
  return false;
}

bool JobController::admitted(const Json& job) const {
  const auto filed = workloads_.find(api::object_key(job));
  return filed != workloads_.end() && std::ranges::any_of(filed->second, [&](const jobs::WorkloadPtr& workload) {
           // A slice that another one replaced tells nothing about the job any more.
           return !(jobs::is_slice(*workload) && jobs::finished(*workload)) &&
                  jobs::is_controlled_by(*workload, string_at(job, {"metadata", "uid"})) &&
                  (api::is_true(workload->status.conditions, api::kueue::kAdmitted) || jobs::runs_on(*workload));
         });
}

bool JobController::names(const api::kueue::Workload& workload) const {
  return named_by_.contains(api::object_key(workload.meta));
}

bool JobController::had_job(const api::kueue::Workload& workload) const {
  return jobs::holds_finalizer(workload) || lost_owner_.contains(workload.meta.uid);
}

bool JobController::is_named(const api::kueue::Workload& workload) const {
  return names(workload) || (rules_.named_by_others && rules_.named_by_others(workload));
}

void JobController::sort_out(const std::string& key, const JsonPtr& job, std::vector<jobs::WorkloadPtr>& mine,
                             std::vector<jobs::WorkloadPtr>& lost) const {
  const auto filed = workloads_.find(key);
  if (filed == workloads_.end()) return;
  const std::string_view uid = job ? string_at(*job, {"metadata", "uid"}) : std::string_view();
  for (const auto& workload : filed->second) {
    const JobRef ref = *job_of(*workload);
    if (job && (ref.uid == uid || (!ref.controls && jobs::is_workload_name_of(adapter_, *job, workload->meta.name)))) {
      mine.push_back(workload);
    } else if (ref.controls && !workload->meta.deletion && deleted_.contains(key)) {
      continue;
    } else if (ref.controls || workload->meta.deletion ||
               (!ref.uid.empty() && !is_named(*workload) && had_job(*workload))) {
      lost.push_back(workload);  // otherwise it was created by hand, or a job names it and will take it
    }
  }
}

// Whether the owners of the job and of its lost workloads are known, or known not to exist.
bool JobController::knows_owners(const std::string& key, const JsonPtr& job, const std::vector<jobs::WorkloadPtr>& lost,
                                 const WorkQueue::Finish& finish) {
  const auto unknown = job ? environment_.managed.unknown_owner(*job) : std::nullopt;
  if (unknown && !questions_.is_absent(key, *unknown, finish)) return false;
  bool any = unknown.has_value();
  for (const auto& workload : lost) {
    const auto* owner = owner_of(*workload);
    if (owner == nullptr || jobs::finished(*workload) || workload->meta.deletion) continue;
    any = true;
    if (!questions_.is_absent(key, {adapter_.kind().resource, workload->meta.ns, owner->name, owner->uid}, finish))
      return false;
  }
  if (!any) questions_.forget(key);
  return true;
}

void JobController::look(const std::string& key, WorkQueue::Finish finish) {
  if (!started_) return finish(true);
  if (waits_for_its_workload(key)) return finish(false);  // looked at again when the cache has it, or after a delay
  const JsonPtr job = jobs_.get(key);
  if (!patches_.shown(key, job, finish)) return;
  std::vector<jobs::WorkloadPtr> mine, lost;
  sort_out(key, job, mine, lost);
  if (!knows_owners(key, job, lost, finish)) return;
  jobs::JobFacts facts = environment_.facts;
  if (job) environment_.managed.judge(*job, rules_.its_kind(*job), facts);
  if (job && facts.has_ancestor) {
    below_others_.insert(key);
  } else {
    below_others_.erase(key);
  }
  facts.workload = [this, &key](std::string_view ns, std::string_view name) {
    auto workload = environment_.facts.workload(ns, name);
    if (workload) awaited_names_[api::object_key(ns, name)] = key;
    return workload;
  };
  if (job) facts.start_refused = refusals_.start_refused(*job);
  // The lost ones come first: they need not wait for a job whose update is refused.
  auto steps = jobs::reconcile(adapter_, nullptr, lost, facts);
  if (job) std::ranges::move(jobs::reconcile(adapter_, job, mine, facts), std::back_inserter(steps));
  const auto updates_job = [](const jobs::Step& step) { return std::holds_alternative<jobs::PatchJob>(step); };
  if (std::ranges::none_of(steps, updates_job)) refusals_.forget(key);
  runner_.in_order(plan_for(key, std::move(steps), job), PlanRunner::ends(std::move(finish)));
}

// What the job says makes no workload that the API server takes.
Outcome JobController::refused_to_describe(const JsonPtr& job, const api::RestResponse& answer) {
  if (!refused_for_good(answer)) return log_failure(answer);
  report(jobs::cannot_compose(api::failure_text(answer)), job);
  return answer.code == kInvalidObject ? Outcome::kEnough : Outcome::kFailed;  // 422: only a change of the job helps
}

Outcome JobController::log_failure(const api::RestResponse& answer) {
  if (answer.code != 409 && answer.code != 404) {
    log::warn("a job could not be reconciled",
              {{"code", answer.code}, {"why", std::string(api::status_message(answer))}});
  }
  return Outcome::kFailed;
}

void JobController::report_refusal(const jobs::PatchJob& update, const JsonPtr& job,
                                   const api::RestResponse& response) {
  const auto event = refusals_.add(*job, update.aim, response, shell_.executor.now());
  if (!event) return;
  report(*event, job);
  if (!update.workload) return;
  const auto& meta = update.workload->meta;
  shell_.events.record(
      {std::string(api::kueue::kGroup) + "/v1beta2", "Workload", meta.ns, meta.name, meta.uid, meta.resource_version},
      {event->warning, event->reason, event->note, {}, adapter_.kind().controller});
}

void JobController::report(const jobs::JobEvent& event, const JsonPtr& job) {
  kube::ObjectRef about{adapter_.kind().api_version(), adapter_.kind().kind, {}, {}, {}};
  if (event.of) {
    const auto* owner = owner_of(*event.of);
    if (owner == nullptr) return;  // no job for the event
    std::tie(about.ns, about.name, about.uid) = std::tie(event.of->meta.ns, owner->name, owner->uid);
  } else {
    about.ns = string_at(*job, {"metadata", "namespace"});
    about.resource_version = string_at(*job, {"metadata", "resourceVersion"});
    about.name = string_at(*job, {"metadata", "name"});
    about.uid = string_at(*job, {"metadata", "uid"});
  }
  kube::EventText text{event.warning, event.reason, event.note, {}, adapter_.kind().controller};
  text.by_note = event.warning;  // one event for a mistake, not one for each version of the job
  shell_.events.record(about, std::move(text));
}

// Where the steps of one look at a job stand.
struct JobController::Look {
  std::string key;
  JsonPtr job;  // as read, or as a patch left it, then with its metadata alone; null: there is none
};

PlannedRequest JobController::request_to_create(const std::shared_ptr<Look>& look, jobs::CreateWorkload step) {
  const std::string name = api::object_key(step.object);
  auto shared = std::make_shared<jobs::CreateWorkload>(std::move(step));
  return {.send =
              [this, look, name, shared](Writes::Done answered) {
                awaited_names_[name] = look->key;
                const std::string ns(string_at(shared->object, {"metadata", "namespace"}));
                shell_.writes.create(api::kWorkloads, ns, std::move(shared->object), std::move(answered),
                                     "new workloads of " + line_of(look->key));
              },
          .there = Outcome::kGoOn,
          .done =
              [this, look, name, shared](const api::RestResponse& answer) {
                environment_.metrics.workload_created(adapter_.kind().kind, *look->job);
                created_[look->key] = string_at(answer.body, {"metadata", "resourceVersion"});
                awaited_names_.erase(name);
                report(shared->event, look->job);
              },
          .refused =
              [this, look, name](const api::RestResponse& answer) {
                if (!refused_by_terminating_namespace(answer)) return refused_to_describe(look->job, answer);
                awaited_names_.erase(name);
                return Outcome::kEnough;  // the job is deleted as well; a change of it is looked at
              }};
}

PlannedRequest JobController::request_to_patch(const std::shared_ptr<Look>& look, jobs::PatchJob step, bool again) {
  auto shared = std::make_shared<jobs::PatchJob>(std::move(step));
  PlannedRequest request{.send = [this, look, shared](Writes::Done answered) {
    Target target = Target::of(adapter_.kind().resource, *look->job);
    target.line = "jobs of " + line_of(look->key);
    shell_.writes.patch(target, shared->subresource, std::move(shared->body),
                        [this, look, answered = std::move(answered)](const api::RestResponse& answer) {
                          patches_.answered(*look->job, answer);
                          answered(answer);
                        });
  }};
  request.refused = [this, look, shared](const api::RestResponse& answer) {
    if (!refused_for_good(answer)) return log_failure(answer);
    report_refusal(*shared, look->job, answer);
    return Outcome::kFailed;
  };
  // A second patch follows the first one: it changes what that made.
  if (again)
    request.done = [look](const api::RestResponse& answer) { look->job = std::make_shared<const Json>(answer.body); };
  return request;
}

PlanRunner::Plan JobController::plan_for(const std::string& key, std::vector<jobs::Step> steps, const JsonPtr& job) {
  const auto look = std::make_shared<Look>(Look{key, job});
  PlanRunner::Plan plan;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool again = i + 1 < steps.size() && std::holds_alternative<jobs::PatchJob>(steps[i + 1]);
    if (auto* create = std::get_if<jobs::CreateWorkload>(&steps[i])) {
      plan.push_back(request_to_create(look, std::move(*create)));
    } else if (auto* patch = std::get_if<jobs::PatchJob>(&steps[i])) {
      plan.push_back(request_to_patch(look, std::move(*patch), again));
    } else if (auto* event = std::get_if<jobs::JobEvent>(&steps[i])) {
      plan.push_back(PlannedRequest::without([this, look, event = std::move(*event)] { report(event, look->job); }));
    } else {
      const bool describes = std::holds_alternative<jobs::UpdateWorkload>(steps[i]);
      plan.push_back(*request_for(shell_, std::move(steps[i])));
      plan.back().refused = [this, look, describes](const api::RestResponse& answer) {
        return describes && look->job ? refused_to_describe(look->job, answer) : log_failure(answer);
      };
    }
  }
  return plan;
}

}  // namespace berth::controller
