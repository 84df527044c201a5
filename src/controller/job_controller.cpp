#include "controller/job_controller.h"

#include <tuple>
#include <utility>

#include "api/status.h"
#include "base/log.h"
#include "controller/resources.h"

namespace berth::controller {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

std::string key_of(const Json& object) {
  return api::object_key(string_at(object, {"metadata", "namespace"}),
                         string_at(object, {"metadata", "name"}));
}

// Kueue tells on the job when an eviction reset a check of a workload that goes on.
std::string reset_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  std::string text;
  if (!old || !now || !now->active) return text;
  for (const auto& check : now->status.admission_checks) {
    if (check.state != api::kueue::CheckState::kPending || check.message.empty()) continue;
    for (const auto& before : old->status.admission_checks) {
      if (before.name != check.name || before.message == check.message) continue;
      text.append(text.empty() ? "" : "; ").append(check.name).append(": ").append(check.message);
    }
  }
  return text;
}

}  // namespace

bool JobController::Older::operator()(const jobs::WorkloadPtr& a, const jobs::WorkloadPtr& b) const {
  return std::tie(a->meta.creation, a->meta.uid) < std::tie(b->meta.creation, b->meta.uid);
}

JobController::JobController(const jobs::JobAdapter& adapter, Context context)
    : adapter_(adapter),
      context_(std::move(context)),
      queue_(context_.executor,
             [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }) {}

void JobController::job_changed(const JsonPtr& old, const JsonPtr& now) {
  if (started_) queue_.add(key_of(now ? *now : *old));
}

const api::OwnerReference* JobController::owner_of(const api::kueue::Workload& workload) const {
  for (const auto& owner : workload.meta.owners) {
    if (owner.controller && owner.kind == adapter_.kind().kind &&
        owner.api_version == adapter_.kind().api_version())
      return &owner;
  }
  return nullptr;
}

void JobController::workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  for (const auto& [version, present] : {std::pair(old, false), std::pair(now, true)}) {
    if (!version) continue;
    const auto* owner = owner_of(*version);
    if (owner == nullptr) continue;
    const std::string key = api::object_key(version->meta.ns, owner->name);
    if (present) {
      workloads_[key].insert(version);
    } else if (const auto it = workloads_.find(key); it != workloads_.end()) {
      it->second.erase(version);
      if (it->second.empty()) workloads_.erase(it);
    }
    if (!started_) continue;
    queue_.add(key);
    if (!present) continue;
    if (const std::string note = reset_checks(old, now); !note.empty()) {
      context_.events.record(
          {adapter_.kind().api_version(), adapter_.kind().kind, version->meta.ns, owner->name, owner->uid},
          {false, "UpdatedAdmissionCheck", note, {}, adapter_.kind().controller});
    }
  }
}

void JobController::facts_changed() {
  if (!started_) return;
  for (const auto& job : context_.jobs.list()) queue_.add(key_of(*job));
}

void JobController::start() {
  started_ = true;
  facts_changed();
  for (const auto& [key, workloads] : workloads_) queue_.add(key);
}

bool JobController::waits_for_its_workload(const std::string& key) {
  const auto it = created_.find(key);
  if (it == created_.end()) return false;
  if (!context_.workloads_seen(it->second)) return true;
  created_.erase(it);
  return false;
}

void JobController::look(const std::string& key, WorkQueue::Finish finish) {
  if (waits_for_its_workload(key)) return finish(false);  // looked at again when it is seen, or later
  const JsonPtr job = context_.jobs.get(key);
  const std::string_view uid = job ? string_at(*job, {"metadata", "uid"}) : std::string_view();
  auto steps = std::make_shared<std::vector<jobs::Step>>();
  std::vector<jobs::WorkloadPtr> mine, of_others;  // others: a former job of the same name
  if (const auto it = workloads_.find(key); it != workloads_.end()) {
    for (const auto& workload : it->second)
      (owner_of(*workload)->uid == uid ? mine : of_others).push_back(workload);
  }
  jobs::JobFacts facts = context_.facts;
  facts.managed = job && context_.managed(*job);
  if (job) *steps = jobs::reconcile(adapter_, job, mine, facts);
  for (auto& step : jobs::reconcile(adapter_, nullptr, of_others, facts)) steps->push_back(std::move(step));
  perform(std::move(steps), 0, job, std::move(finish));
}

void JobController::perform(std::shared_ptr<std::vector<jobs::Step>> steps, std::size_t next, JsonPtr job,
                            WorkQueue::Finish finish) {
  if (next == steps->size()) return finish(true);
  // `gone_is_fine`: deleting what is not there is done.
  const auto then = [this, steps, next, job, finish](bool gone_is_fine) {
    return [this, alive = alive_, steps, next, job, finish, gone_is_fine](const api::RestResponse& response) {
      if (!*alive) return;
      const bool exists_already =
          api::status_reason(response) == "AlreadyExists";  // our own, the cache lags behind
      if (response.ok() || exists_already || (gone_is_fine && response.code == 404))
        return perform(steps, next + 1, job, finish);
      if (response.code != 409 && response.code != 404) {
        log::warn("a job could not be reconciled",
                  {{"code", response.code}, {"why", std::string(api::status_message(response))}});
      }
      finish(false);
    };
  };
  std::visit(Overloaded{
                 [&](jobs::CreateWorkload& s) {
                   const std::string ns(string_at(s.object, {"metadata", "namespace"}));
                   context_.writes.create(
                       kWorkloads, ns, std::move(s.object),
                       [this, alive = alive_, key = key_of(*job), then = then(false)](const api::RestResponse& response) {
                         if (*alive && response.ok())
                           created_[key] = string_at(response.body, {"metadata", "resourceVersion"});
                         then(response);
                       });
                 },
                 [&](jobs::DeleteWorkload& s) {
                   context_.writes.remove(Target::of(kWorkloads, s.workload->meta), then(true));
                 },
                 [&](jobs::DropWorkloadFinalizer& s) {
                   JsonArray kept;
                   for (const auto& finalizer : s.workload->meta.finalizers) {
                     if (finalizer != api::kueue::kFinalizer) kept.emplace_back(finalizer);
                   }
                   context_.writes.patch(
                       Target::of(kWorkloads, s.workload->meta), "",
                       JsonObject{{"metadata", JsonObject{{"finalizers", std::move(kept)}}}}, then(true));
                 },
                 [&](jobs::UpdateWorkload& s) {
                   context_.writes.patch(Target::of(kWorkloads, s.workload->meta), "", std::move(s.patch),
                                         then(false));
                 },
                 [&](jobs::ReportJob& s) {
                   context_.feed(engine::JobReported{s.workload->meta.ns, s.workload->meta.name, s.report});
                   perform(steps, next + 1, job, finish);
                 },
                 [&](jobs::PatchJob& s) {
                   context_.writes.patch(Target::of(adapter_.kind().resource, *job), s.subresource,
                                         std::move(s.body), then(false));
                 },
                 [&](jobs::JobEvent& s) {
                   context_.events.record({adapter_.kind().api_version(), adapter_.kind().kind,
                                           std::string(string_at(*job, {"metadata", "namespace"})),
                                           std::string(string_at(*job, {"metadata", "name"})),
                                           std::string(string_at(*job, {"metadata", "uid"}))},
                                          {s.warning, s.reason, s.note, {}, adapter_.kind().controller});
                   perform(steps, next + 1, job, finish);
                 },
             },
             (*steps)[next]);
}

}  // namespace berth::controller
