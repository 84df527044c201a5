// The status of a job that runs on a worker comes to the manager, and its end to the workload.
#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/status.h"
#include "base/log.h"
#include "controller/multikueue.h"
#include "jobs/job_adapter.h"
#include "multikueue/copy.h"
#include "multikueue/remote_job.h"

namespace berth::controller {
namespace {

constexpr Duration kStatusAgain = std::chrono::minutes(1);

bool too_large(const api::RestResponse& answer) {
  if (answer.code == 413) return true;
  const std::string why = api::failure_text(answer);  // of etcd, and of its client
  return answer.code == 500 &&
         (why.find("too large") != std::string::npos || why.find("larger than max") != std::string::npos);
}

// The same status would be refused again. Another token (401), a pause (408, 429) or a newer version (409) helps.
bool stays_refused(const api::RestResponse& answer) {
  const bool passes = answer.code == 401 || answer.code == 408 || answer.code == 409 || answer.code == 429;
  return !passes && ((answer.code >= 400 && answer.code < 500) || too_large(answer));
}

std::string what_to_do(const api::GroupVersionResource& resource, const api::RestResponse& answer) {
  const std::string of = resource.resource + (resource.group.empty() ? "" : "." + resource.group);
  if (answer.code == 403) return "allow the controller to patch " + of + "/status";
  if (answer.code == 404) return "give the definition of " + of + " the subresource status";
  return "the status on the worker is not one that the API server of the manager takes";
}

}  // namespace

std::optional<PlannedRequest> MultiKueueController::sync_status(const View& view, const std::string& name) {
  const WorkerCluster* cluster = clusters_.find(name);
  if (!view.job || cluster == nullptr) return std::nullopt;
  const std::string key = api::object_key(view.workload->meta);
  const auto jobs = cluster->jobs(key);
  const auto there = std::ranges::find_if(jobs, [&](const auto& one) { return is_job_of(view, *one); });
  if (there == jobs.end()) return std::nullopt;
  Json patch = multikueue::status_patch(*view.job, **there);
  if (patch.is_null()) return std::nullopt;
  const auto& resource = view.kind->rules.resource;
  return PlannedRequest{
      .send =
          [this, &resource, job = view.job, patch = std::move(patch)](Writes::Done answered) {
            shell_.writes.patch(Target::of(resource, *job), "status", patch, std::move(answered));
          },
      .done = [this, key](const api::RestResponse&) { refused_statuses_.erase(key); },
      .refused = [this, view, name](const api::RestResponse& answer) { return status_refused(view, name, answer); }};
}

// The workload goes on without the status: an end must not hold quota for ever.
Outcome MultiKueueController::status_refused(const View& view, const std::string& cluster,
                                             const api::RestResponse& answer) {
  if (!stays_refused(answer)) return Outcome::kFailed;
  const auto& meta = view.workload->meta;
  const std::string key = api::object_key(meta);
  const auto& rules = view.kind->rules;
  const JsonPtr now = view.kind->jobs->get(api::object_key(*view.job));
  const bool goes = !now || find_path(*now, {"metadata", "deletionTimestamp"}) != nullptr;
  if (answer.code == 404 && goes) return Outcome::kGoOn;  // nobody looks at it any more
  RefusedStatus& refused = refused_statuses_[key];
  refused.again = shell_.executor.now() + kStatusAgain;
  const auto wakes = wake_ups_.find(key);
  if (wakes == wake_ups_.end() || wakes->second.first > refused.again) wake_at(key, refused.again);
  if (std::exchange(refused.code, answer.code) == answer.code) return Outcome::kGoOn;
  const std::string why = api::failure_text(answer);
  log::warn("the API server does not take the status of a job from its worker cluster",
            {{"job", api::object_key(*view.job)}, {"cluster", cluster}, {"code", answer.code}, {"why", why}});
  kube::EventText text{true, "StatusNotCopied", {}, {}, std::string(api::kueue::kMultiKueueController)};
  text.note = "The status of " + rules.kind + " " + std::string(string_at(*view.job, {"metadata", "name"})) +
              " on the worker cluster \"" + cluster +
              "\" does not come to the manager: " + what_to_do(rules.resource, answer) +
              ". The workload ends without it. The answer was: " + why;
  text.by_note = true;
  shell_.events.record({std::string(api::kueue::kGroup) + "/" + std::string(api::kueue::kVersion), "Workload", meta.ns,
                        meta.name, meta.uid, meta.resource_version},
                       std::move(text));
  return Outcome::kGoOn;
}

// nullopt: nothing was refused, or the time has come.
std::optional<Time> MultiKueueController::retry_of_status(const std::string& key) const {
  const auto found = refused_statuses_.find(key);
  if (found == refused_statuses_.end() || found->second.again <= shell_.executor.now()) return std::nullopt;
  return found->second.again;
}

// As the job on the worker tells it, which the manager may not show yet.
bool MultiKueueController::job_succeeded(const View& view, const WorkerCluster& cluster) {
  if (!view.job || view.kind == nullptr) return false;
  const auto jobs = cluster.jobs(api::object_key(view.workload->meta));
  const auto there = std::ranges::find_if(jobs, [&](const auto& one) { return is_job_of(view, *one); });
  if (there == jobs.end() || !(*there)->status) return false;
  Json job = *view.job;
  job.as_object()["status"] = *(*there)->status;
  const auto outcome = view.kind->adapter->finished(job);
  return outcome && outcome->succeeded;
}

PlannedRequest MultiKueueController::finish_with(const View& view, const std::string& name) {
  return PlannedRequest::without([this, view, name] {
    const WorkerCluster* cluster = clusters_.find(name);
    const auto copy = cluster == nullptr ? nullptr : cluster->copy(api::object_key(view.workload->meta));
    if (!copy) return;
    const auto end = multikueue::end_of(*copy, job_succeeded(view, *cluster));
    api::kueue::JobReport ended;
    ended.finished = Rare<api::kueue::JobReport::Outcome>({end.reason, end.message});
    ended.workload_version = view.workload->meta.resource_version;
    shell_.feed(engine::JobReported{view.workload->meta.ns, view.workload->meta.name, std::move(ended)});
  });
}

std::optional<PlannedRequest> MultiKueueController::release(const View& view) {
  if (!view.job) return std::nullopt;
  Json patch = multikueue::no_pods_patch(view.kind->rules, *view.job);
  if (patch.is_null()) return std::nullopt;
  const auto& resource = view.kind->rules.resource;
  return PlannedRequest{.send = [this, &resource, job = view.job, patch = std::move(patch)](Writes::Done answered) {
    shell_.writes.patch(Target::of(resource, *job), "status", patch, std::move(answered));
  }};
}

}  // namespace berth::controller
