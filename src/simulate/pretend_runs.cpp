#include "simulate/pretend_runs.h"

#include <utility>

#include "base/log.h"

namespace berth::simulate {
namespace {

const api::GroupVersionResource kWorkloads{"kueue.x-k8s.io", "v1beta2", "workloads"};

api::Condition condition(std::string_view type, bool status, std::string_view reason,
                         std::string_view message, Time now) {
  api::Condition c;
  c.type = type;
  c.status = status;
  c.reason = reason;
  c.message = message;
  c.last_transition = to_seconds(now);
  return c;
}

}  // namespace

PretendRuns::PretendRuns(api::RestClient& client, Executor& executor, RunTime run_time)
    : client_(client),
      executor_(executor),
      run_time_(std::move(run_time)),
      workloads_(client, executor, kWorkloads) {
  workloads_.on_change([this](const JsonPtr& old, const JsonPtr& now) {
    const Json& object = now ? *now : *old;
    changed(api::object_key(string_at(object, {"metadata", "namespace"}),
                            string_at(object, {"metadata", "name"})),
            now);
  });
}

PretendRuns::~PretendRuns() {
  for (const auto& [key, run] : runs_) {
    if (run.timer != 0) executor_.cancel(run.timer);
  }
}

void PretendRuns::start() { workloads_.start(); }

void PretendRuns::forget(const std::string& key) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  if (it->second.timer != 0) executor_.cancel(it->second.timer);
  runs_.erase(it);
}

void PretendRuns::changed(const std::string& key, const JsonPtr& now) {
  const auto run_time = run_time_(key);
  if (!run_time) return;
  const auto workload = now ? api::kueue::decode_workload(*now) : fail("deleted");
  if (!workload) return forget(key);
  const auto& conditions = workload->status.conditions;
  if (api::is_true(conditions, api::kueue::kFinished) ||
      !api::is_true(conditions, api::kueue::kQuotaReserved))
    return forget(key);
  if (api::is_true(conditions, api::kueue::kEvicted)) {
    forget(key);
    auto after = conditions;
    api::set_condition(after, condition(api::kueue::kQuotaReserved, false, "Pending",
                                        "The pretended run was stopped", executor_.now()));
    api::set_condition(after, condition(api::kueue::kAdmitted, false, "NoReservation",
                                        "The workload has no reservation", executor_.now()));
    return write(*workload,
                 JsonObject{{"admission", nullptr}, {"conditions", api::encode_conditions(after)}});
  }
  if (!api::is_true(conditions, api::kueue::kAdmitted)) return;
  Run& run = runs_[key];
  if (run.over) return finish(key);
  if (run.timer == 0) {
    run.timer = executor_.after(*run_time, [this, key] {
      runs_[key].timer = 0;
      runs_[key].over = true;
      finish(key);
    });
  }
}

void PretendRuns::finish(const std::string& key) {
  const JsonPtr object = workloads_.get(key);
  const auto workload = object ? api::kueue::decode_workload(*object) : fail("deleted");
  if (!workload) return;
  auto after = workload->status.conditions;
  api::set_condition(after, condition(api::kueue::kFinished, true, "Succeeded", "The pretended run is over",
                                      executor_.now()));
  write(*workload, JsonObject{{"conditions", api::encode_conditions(after)}});
}

// With the version that was seen: a conflict means that a newer one comes, which is looked at then.
void PretendRuns::write(const api::kueue::Workload& workload, Json status) {
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kMerge;
  request.resource = kWorkloads;
  request.ns = workload.meta.ns;
  request.name = workload.meta.name;
  request.subresource = "status";
  request.body = JsonObject{{"metadata", JsonObject{{"uid", workload.meta.uid},
                                                    {"resourceVersion", workload.meta.resource_version}}},
                            {"status", std::move(status)}};
  client_.call(std::move(request), [key = api::object_key(workload.meta)](const api::RestResponse& response) {
    if (response.ok() || response.code == 409 || response.code == 404) return;
    log::warn("a pretended run could not be written", {{"workload", key}, {"code", response.code}});
  });
}

}  // namespace berth::simulate
