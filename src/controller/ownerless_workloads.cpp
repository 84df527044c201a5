#include "controller/ownerless_workloads.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/resources.h"
#include "jobs/compose.h"

namespace berth::controller {
namespace {

bool leaves_alone(const api::kueue::Workload& workload) {
  const auto& meta = workload.meta;
  return meta.deletion && std::ranges::find(meta.finalizers, api::kueue::kFinalizer) != meta.finalizers.end() &&
         std::ranges::none_of(meta.owners, &api::OwnerReference::controller);
}

// A workload that has or had a job is evicted when the job has stopped: its owner says so.
bool evicted_alone(const api::kueue::Workload& workload) {
  const auto& conditions = workload.status.conditions;
  return workload.meta.owners.empty() && !workload.meta.labels.contains(jobs::kJobUidLabel) &&
         api::is_true(conditions, api::kueue::kEvicted) && api::is_true(conditions, api::kueue::kQuotaReserved) &&
         !api::is_true(conditions, api::kueue::kFinished);
}

}  // namespace

void drop_workload_finalizer(Writes& writes, const api::kueue::Workload& workload, Writes::Done done) {
  JsonArray kept;
  for (const auto& finalizer : workload.meta.finalizers) {
    if (finalizer != api::kueue::kFinalizer) kept.emplace_back(finalizer);
  }
  writes.patch(Target::of(api::kWorkloads, workload.meta), "",
               JsonObject{{"metadata", JsonObject{{"finalizers", std::move(kept)}}}}, std::move(done));
}

OwnerlessWorkloads::OwnerlessWorkloads(Shell& shell, std::function<bool(const api::kueue::Workload&)> of_others)
    : shell_(shell),
      of_others_(std::move(of_others)),
      queue_(shell.executor,
             [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }) {}

void OwnerlessWorkloads::workload_changed(const std::string& key, const jobs::WorkloadPtr& now) {
  const bool waits = now && (leaves_alone(*now) || evicted_alone(*now));
  if (!waits || (of_others_ && of_others_(*now))) {
    waiting_.erase(key);
    return;
  }
  waiting_[key] = now;
  if (started_) queue_.add(key);
}

void OwnerlessWorkloads::start() {
  started_ = true;
  for (const auto& [key, workload] : waiting_) queue_.add(key);
}

void OwnerlessWorkloads::look(const std::string& key, WorkQueue::Finish finish) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return finish(true);
  const auto workload = it->second;
  if (evicted_alone(*workload)) {
    api::kueue::JobReport stopped;
    stopped.stopped = true;
    stopped.workload_version = workload->meta.resource_version;
    shell_.feed(engine::JobReported{workload->meta.ns, workload->meta.name, std::move(stopped)});
  }
  if (!leaves_alone(*workload)) return finish(true);
  drop_workload_finalizer(shell_.writes, *workload, [finish = std::move(finish)](const api::RestResponse& response) {
    finish(response.ok() || response.code == 404);
  });
}

}  // namespace berth::controller
