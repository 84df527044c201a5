#include "embedded/simulate/pretend_runs.h"

#include <utility>

#include "api/resources.h"
#include "base/log.h"

namespace berth::simulate {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);  // wait after a failed write

api::Condition condition(std::string_view type, bool status, std::string_view reason, std::string_view message,
                         Time now) {
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
    : client_(client), executor_(executor), run_time_(std::move(run_time)) {}

PretendRuns::~PretendRuns() {
  for (const auto& [key, run] : runs_) {
    if (run.timer != 0) executor_.cancel(run.timer);
  }
}

void PretendRuns::forget(const std::string& key) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  if (it->second.timer != 0) executor_.cancel(it->second.timer);
  runs_.erase(it);
}

void PretendRuns::workload_changed(const std::string& key, const WorkloadPtr& now) {
  if (!now || !run_time_(key) || api::is_true(now->status.conditions, api::kueue::kFinished) ||
      !api::is_true(now->status.conditions, api::kueue::kQuotaReserved))
    return forget(key);
  runs_[key].latest = now;
  look(key);
}

void PretendRuns::look(const std::string& key) {
  Run& run = runs_.at(key);
  const auto& conditions = run.latest->status.conditions;
  if (api::is_true(conditions, api::kueue::kEvicted)) {
    if (run.timer != 0) executor_.cancel(std::exchange(run.timer, 0));
    run.over = false;
    return release(key);
  }
  if (!api::is_true(conditions, api::kueue::kAdmitted)) return;
  if (run.over) return finish(key);
  if (run.timer == 0) look_after(key, *run_time_(key), true);
}

void PretendRuns::look_after(const std::string& key, Duration wait, bool over) {
  Run& run = runs_.at(key);
  if (run.timer != 0) executor_.cancel(run.timer);
  run.timer = executor_.after(wait, [this, key, over] {
    Run& due = runs_.at(key);
    due.timer = 0;
    due.over = due.over || over;
    look(key);
  });
}

// Releases the quota, as the controller of a job does when the job's pods are gone.
void PretendRuns::release(const std::string& key) {
  api::kueue::WorkloadStatus status = runs_.at(key).latest->status;
  auto& after = status.conditions;
  status.admission.reset();
  api::set_condition(
      after, condition(api::kueue::kQuotaReserved, false, "Pending", "The pretended run was stopped", executor_.now()));
  api::set_condition(after, condition(api::kueue::kAdmitted, false, "NoReservation", "The workload has no reservation",
                                      executor_.now()));
  write(key, status);
}

void PretendRuns::finish(const std::string& key) {
  api::kueue::WorkloadStatus status = runs_.at(key).latest->status;
  api::set_condition(status.conditions,
                     condition(api::kueue::kFinished, true, "Succeeded", "The pretended run is over", executor_.now()));
  write(key, status);
}

// Sends the resourceVersion that was seen: a conflict means that a newer version will arrive, and it is handled then.
// An update costs the server less than a patch.
void PretendRuns::write(const std::string& key, const api::kueue::WorkloadStatus& status) {
  const api::ObjectMeta& meta = runs_.at(key).latest->meta;
  api::RestRequest request;
  request.verb = api::Verb::kUpdate;
  request.resource = api::kWorkloads;
  request.ns = meta.ns;
  request.name = meta.name;
  request.subresource = "status";
  request.wants_metadata_only = true;
  request.body = JsonObject{
      {"apiVersion", api::kWorkloads.group + "/" + api::kWorkloads.version},
      {"kind", "Workload"},
      {"metadata",
       JsonObject{
           {"namespace", meta.ns}, {"name", meta.name}, {"uid", meta.uid}, {"resourceVersion", meta.resource_version}}},
      {"status", api::kueue::encode_workload_status(status)}};
  client_.call(std::move(request), lifetime_.guard([this, key](const api::RestResponse& response) {
    if (response.ok() || response.code == 409 || response.code == 404) return;
    log::warn("a pretended run could not be written", {{"workload", key}, {"code", response.code}});
    if (runs_.contains(key)) look_after(key, kRetry, false);
  }));
}

}  // namespace berth::simulate
