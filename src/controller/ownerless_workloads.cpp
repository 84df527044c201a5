#include "controller/ownerless_workloads.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/resources.h"

namespace berth::controller {
namespace {

bool leaves_alone(const api::kueue::Workload& workload) {
  const auto& meta = workload.meta;
  return meta.deletion && std::ranges::find(meta.finalizers, api::kueue::kFinalizer) != meta.finalizers.end() &&
         std::ranges::none_of(meta.owners, &api::OwnerReference::controller);
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

OwnerlessWorkloads::OwnerlessWorkloads(Executor& executor, Writes& writes,
                                       std::function<bool(const api::kueue::Workload&)> of_others)
    : writes_(writes),
      of_others_(std::move(of_others)),
      queue_(executor, [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); }) {}

void OwnerlessWorkloads::workload_changed(const std::string& key, const jobs::WorkloadPtr& now) {
  if (!now || !leaves_alone(*now) || (of_others_ && of_others_(*now))) {
    leaving_.erase(key);
    return;
  }
  leaving_[key] = now;
  if (started_) queue_.add(key);
}

void OwnerlessWorkloads::start() {
  started_ = true;
  for (const auto& [key, workload] : leaving_) queue_.add(key);
}

void OwnerlessWorkloads::look(const std::string& key, WorkQueue::Finish finish) {
  const auto it = leaving_.find(key);
  if (it == leaving_.end()) return finish(true);
  drop_workload_finalizer(writes_, *it->second, [finish = std::move(finish)](const api::RestResponse& response) {
    finish(response.ok() || response.code == 404);
  });
}

}  // namespace berth::controller
