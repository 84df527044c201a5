// What MultiKueue does on a worker cluster. Deletions name the version that the decision is based on.
#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/merge_patch.h"
#include "controller/metrics.h"
#include "controller/multikueue.h"
#include "jobs/job_adapter.h"
#include "jobs/workload_steps.h"
#include "multikueue/copy.h"
#include "multikueue/names.h"
#include "multikueue/remote_job.h"

namespace berth::controller {
namespace {

// The job as its user wrote it: suspended, without what the manager's admission added. A stop takes a few patches.
// Some kinds stop in several steps, and wait for their pods in between: here none has pods.
Json as_written(const jobs::JobAdapter& adapter, const Json& job, const api::kueue::Workload& workload) {
  constexpr int kMostPatches = 4;
  Json out = job;
  erase_path(out, {"status"});
  for (int i = 0; i < kMostPatches; ++i) {
    const auto patch = adapter.next_stop(out, workload.pod_sets);
    if (!patch) break;
    out = apply_merge_patch(out, patch->body);
  }
  return out;
}

bool holds_our_finalizer(const multikueue::SeenCopy& copy) {
  return std::ranges::find(copy.meta.finalizers, api::kueue::kFinalizer) != copy.meta.finalizers.end();
}

Outcome report_worker_refusal(const std::string& cluster, const std::string& key, const api::RestResponse& answer) {
  if (answer.code != 409 && answer.code != 404 && answer.code != 0)  // 0: its condition says that it is lost
    log::warn("a workload could not be dispatched to a worker cluster; trying again",
              {{"cluster", cluster}, {"workload", key}, {"code", answer.code}, {"why", api::failure_text(answer)}});
  return Outcome::kFailed;
}

}  // namespace

void MultiKueueController::act_on(WorkerCluster& cluster, const std::string& key, WorkQueue::Finish finish) {
  const auto view = view_of(key);
  if (!view) return finish(true);
  PlanRunner::Plan plan;
  for (const auto& step : steps_for(*view)) {
    if (step.cluster == cluster.name()) plan_on(cluster, key, *view, step, plan);
  }
  cluster.runner().in_order(std::move(plan), PlanRunner::ends(std::move(finish)));
}

void MultiKueueController::plan_on(WorkerCluster& cluster, const std::string& key, const View& view,
                                   const multikueue::Step& step, PlanRunner::Plan& plan) {
  const multikueue::Sender sender = sender_();
  if (step.kind == multikueue::Step::Kind::kDeleteCopy) {
    remove_on(cluster, key, plan);
  } else if (step.kind == multikueue::Step::Kind::kCreateCopy) {
    PlannedRequest request = create_on(cluster, key, api::kWorkloads, multikueue::copy_of(*view.workload, sender));
    request.done = [this, queue = queue_of(*view.workload), name = cluster.name()](const api::RestResponse&) {
      if (shell_.options.metrics != nullptr) shell_.options.metrics->multikueue().dispatched(queue, name);
    };
    plan.push_back(std::move(request));
  } else if (step.kind == multikueue::Step::Kind::kCreateJob && view.job) {
    const multikueue::RemoteKind& kind = view.kind->rules;
    plan.push_back(create_on(
        cluster, key, kind.resource,
        multikueue::remote_job(kind, as_written(*view.kind->adapter, *view.job, *view.workload),
                               view.workload->meta.name, sender, shell_.options.jobs.identifier_annotations)));
  } else if (step.kind == multikueue::Step::Kind::kUpdateJob) {
    if (auto request = update_on(cluster, key, view)) plan.push_back(std::move(*request));
  } else if (step.kind == multikueue::Step::Kind::kDeactivate) {
    const auto copy = cluster.copy(key);
    const auto* evicted = api::find_condition(view.workload->status.conditions, api::kueue::kEvicted);
    const std::string why = step.message + ": " + (evicted == nullptr ? std::string() : evicted->message);
    Json patch = copy ? multikueue::deactivation(*copy, why, shell_.executor.now()) : Json();
    if (patch.is_null()) return;
    plan.push_back({.send =
                        [&cluster, copy, patch = std::move(patch)](Writes::Done answered) {
                          cluster.writes().patch(Target::of(api::kWorkloads, copy->meta), "status", patch,
                                                 std::move(answered));
                        },
                    .gone = Outcome::kGoOn});
  }
}

std::optional<PlannedRequest> MultiKueueController::update_on(WorkerCluster& cluster, const std::string& key,
                                                              const View& view) {
  const auto jobs = cluster.jobs(key);
  const auto there = std::ranges::find_if(jobs, [&](const auto& one) { return is_job_of(view, *one); });
  if (!view.job || there == jobs.end()) return std::nullopt;
  Json patch = multikueue::sync_patch(*view.job, **there);
  if (patch.is_null()) return std::nullopt;
  PlannedRequest request{.send = [&cluster, job = *there, patch = std::move(patch)](Writes::Done answered) {
    cluster.writes().patch(Target::of(job->kind->resource, job->meta), "", patch, std::move(answered));
  }};
  request.refused = [name = cluster.name(), key](const api::RestResponse& answer) {
    return report_worker_refusal(name, key, answer);
  };
  return request;
}

// AlreadyExists: what the cache does not show yet, or what somebody else made there.
PlannedRequest MultiKueueController::create_on(WorkerCluster& cluster, const std::string& key,
                                               const api::GroupVersionResource& resource, Json object) {
  const auto made = std::make_shared<const Json>(std::move(object));
  const bool job = resource != api::kWorkloads;
  return {
      .send =
          [&cluster, resource, made](Writes::Done answered) {
            cluster.writes().create(resource, string_at(*made, {"metadata", "namespace"}), *made, std::move(answered));
          },
      .refused =
          [this, &cluster, key, resource, made, job](const api::RestResponse& answer) {
            if (api::status_reason(answer) != "AlreadyExists")
              return report_worker_refusal(cluster.name(), key, answer);
            cluster.writes().get(
                Target::of(resource, *made), lifetime_.guard([this, &cluster, key, job](const api::RestResponse& got) {
                  if (!got.ok()) return;
                  const auto origin = string_at(got.body, {"metadata", "labels", multikueue::kOriginLabel});
                  const auto manager = string_at(got.body, {"metadata", "annotations", multikueue::kManager});
                  if (origin != shell_.options.multikueue.origin || sender_().is_other(manager))
                    cluster.found_foreign(key, job);
                }));
            return Outcome::kEnough;
          }};
}

// The jobs first: a copy without a job is harmless, a job without its copy is not seen by the other managers.
void MultiKueueController::remove_on(WorkerCluster& cluster, const std::string& key, PlanRunner::Plan& plan) {
  const auto remove = [&](const api::GroupVersionResource& resource, const api::ObjectMeta& meta) {
    plan.push_back(
        {.send = [&cluster, target = Target::of(resource, meta)](
                     Writes::Done answered) { cluster.writes().remove_version(target, std::move(answered)); },
         .gone = Outcome::kGoOn,
         .refused = [name = cluster.name(),
                     key](const api::RestResponse& answer) { return report_worker_refusal(name, key, answer); }});
  };
  for (const auto& job : cluster.jobs(key)) {
    if (!job->meta.deletion) remove(job->kind->resource, job->meta);
  }
  const auto copy = cluster.copy(key);
  if (!copy) return;
  if (!copy->meta.deletion) return remove(api::kWorkloads, copy->meta);
  // The worker's controller lets it go when its job is gone; without a job nobody does.
  if (!holds_our_finalizer(*copy) || !cluster.jobs(key).empty()) return;
  JsonArray left;
  for (const auto& finalizer : copy->meta.finalizers) {
    if (finalizer != api::kueue::kFinalizer) left.emplace_back(finalizer);
  }
  plan.push_back({.send =
                      [&cluster, copy, left = std::move(left)](Writes::Done answered) {
                        cluster.writes().patch(Target::of(api::kWorkloads, copy->meta), "",
                                               JsonObject{{"metadata", JsonObject{{"finalizers", left}}}},
                                               std::move(answered));
                      },
                  .gone = Outcome::kGoOn});
}

}  // namespace berth::controller
