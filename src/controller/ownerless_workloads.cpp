#include "controller/ownerless_workloads.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/kueue/names.h"
#include "api/owners.h"
#include "api/resources.h"

namespace berth::controller {
namespace {

bool leaves_alone(const api::kueue::Workload& workload) {
  const auto& meta = workload.meta;
  return meta.deletion && std::ranges::find(meta.finalizers, api::kueue::kFinalizer) != meta.finalizers.end() &&
         api::controller_of(meta) == nullptr;
}

bool evicted_alone(const api::kueue::Workload& workload) {
  const auto& conditions = workload.status.conditions;
  return workload.meta.owners.empty() && api::is_true(conditions, api::kueue::kEvicted) &&
         api::is_true(conditions, api::kueue::kQuotaReserved) && !api::is_true(conditions, api::kueue::kFinished);
}

// How long before the end of the wait it is announced: a fifth of the wait, but at most a minute.
Duration notice_of(Duration wait) { return std::min<Duration>(wait / 5, std::chrono::minutes(1)); }

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

OwnerlessWorkloads::~OwnerlessWorkloads() {
  for (const auto& [key, waiting] : waiting_) shell_.executor.cancel(waiting.timer);
}

void OwnerlessWorkloads::forget(const std::string& key) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return;
  shell_.executor.cancel(it->second.timer);
  waiting_.erase(it);
}

void OwnerlessWorkloads::workload_changed(const std::string& key, const jobs::WorkloadPtr& now) {
  const bool waits = now && (leaves_alone(*now) || evicted_alone(*now));
  if (!waits || (of_others_ && of_others_(*now))) return forget(key);
  const auto known = waiting_.find(key);
  if (known != waiting_.end() && (known->second.workload->meta.uid != now->meta.uid ||
                                  evicted_alone(*known->second.workload) != evicted_alone(*now)))
    forget(key);
  const auto [it, added] = waiting_.try_emplace(key);
  it->second.workload = now;
  // Any client may have written a time in the future.
  if (const auto* evicted = api::find_condition(now->status.conditions, api::kueue::kEvicted); added && evicted)
    it->second.since = std::min(evicted->last_transition, shell_.executor.now());
  if (started_) queue_.add(key);
}

void OwnerlessWorkloads::start() {
  started_ = true;
  for (const auto& [key, waiting] : waiting_) queue_.add(key);
}

void OwnerlessWorkloads::look(const std::string& key, WorkQueue::Finish finish) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return finish(true);
  const auto workload = it->second.workload;
  if (evicted_alone(*workload)) wait_for_the_end(key, it->second);
  if (!leaves_alone(*workload)) return finish(true);
  drop_workload_finalizer(shell_.writes, *workload, [finish = std::move(finish)](const api::RestResponse& response) {
    finish(response.ok() || response.code == 404);
  });
}

void OwnerlessWorkloads::wait_for_the_end(const std::string& key, Waiting& waiting) {
  const Duration wait = shell_.options.ownerless_workloads.eviction_timeout;
  if (wait == Duration(0)) return;
  const Time now = shell_.executor.now(), end = waiting.since + wait, near = end - notice_of(wait);
  if (now >= end) return report_stopped(*waiting.workload);
  if (now < near) return look_at(key, waiting, near);
  if (!std::exchange(waiting.reported, true)) report_that_it_is_near(*waiting.workload, end - now);
  look_at(key, waiting, end);
}

void OwnerlessWorkloads::look_at(const std::string& key, Waiting& waiting, Time when) {
  shell_.executor.cancel(waiting.timer);
  waiting.timer = shell_.executor.at(when, lifetime_.guard([this, key] { queue_.add(key); }));
}

void OwnerlessWorkloads::report_stopped(const api::kueue::Workload& workload) {
  api::kueue::JobReport stopped;
  stopped.stopped = true;
  stopped.workload_version = workload.meta.resource_version;
  shell_.feed(engine::JobReported{workload.meta.ns, workload.meta.name, std::move(stopped)});
}

void OwnerlessWorkloads::report_that_it_is_near(const api::kueue::Workload& workload, Duration left) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  const auto& meta = workload.meta;
  shell_.events.record(
      {std::string(api::kueue::kGroup) + "/v1beta2", "Workload", meta.ns, meta.name, meta.uid, meta.resource_version},
      {true,
       "EvictionTimeoutNear",
       "The workload is evicted, and nobody ended that. In " + std::to_string(seconds) +
           "s it gives its quota back (ownerlessWorkloads.evictionTimeout). Stop its pods before, then set the "
           "condition "
           "QuotaReserved to False and remove status.admission",
       {},
       "kueue-workload-controller"});
}

}  // namespace berth::controller
