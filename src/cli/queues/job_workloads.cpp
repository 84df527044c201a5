#include "cli/queues/job_workloads.h"

#include <algorithm>

#include "api/object_condition.h"
#include "api/resources.h"
#include "cli/queues/discovery.h"
#include "cli/queues/lister.h"
#include "cli/queues/warnings.h"
#include "cli/queues/workload_facts.h"

namespace berth::cli::queues {
namespace {

constexpr std::string_view kQueueName = "kueue.x-k8s.io/queue-name";

// Why a job has no workload, as far as its labels and events tell.
std::string why_no_workload(const Session& session, Opened& opened, const ForObject& job) {
  if (string_at(*job.object, {"metadata", "labels", kQueueName}).empty())
    return "it has no label " + std::string(kQueueName) + ", so it is not queued";
  if (const std::string_view pods = where_its_workloads_are(job.resource); !pods.empty()) return std::string(pods);
  const auto warning = Warnings(session, opened).about(job);
  if (!warning) return "its events, which may say why, cannot be read: " + warning.error().message;
  if (!warning->empty()) return "its newest warning is " + *warning;
  return "there is no warning about it; its owner is queued in its place, its kind or namespace is not managed, or it "
         "is "
         "too new";
}

// A workload may be finished while its job is not: others finish it, or the job cannot start.
std::string how_it_ended(const Json& workload) {
  const Json* condition = api::object_condition(workload, api::kueue::kFinished);
  const std::string_view reason = condition == nullptr ? "" : string_at(*condition, {"reason"});
  if (condition == nullptr || reason == "Succeeded" || reason == "Failed")
    return " has finished: its workload waits for nothing";
  return " waits for nothing: its workload " + std::string(string_at(workload, {"metadata", "name"})) +
         " is finished (" + std::string(reason) + ": " + std::string(string_at(*condition, {"message"})) +
         "); delete the workload to queue what has not run";
}

}  // namespace

std::string_view where_its_workloads_are(const FoundResource& resource) {
  const bool deployment = resource.resource.group == "apps" && resource.kind == "Deployment";
  return deployment ? "each pod of a Deployment has a Workload of its own: berth explain pod NAME" : "";
}

Result<std::vector<std::string>> workloads_of_job(const Session& session, Opened& opened, const std::string& type,
                                                  const std::string& name) {
  Discovery discovery(*opened.server);
  auto found = find_for(*opened.server, discovery, {type, name}, opened.ns);
  if (!found) return tl::unexpected(found.error());
  const std::string what = type + "/" + name;
  if (!found->resource.namespaced)
    return fail(what + ": " + found->resource.kind +
                " is no kind of job; expected workload, clusterqueue, localqueue, or a kind of job: job, pod, "
                "rayjob, ...");
  if (!found->object) return fail(what + " does not exist in namespace " + opened.ns);
  auto workloads =
      list_objects(session, *opened.server, {kWorkload.resource(), std::string(kWorkload.name), opened.ns, {}, {}});
  if (!workloads) return tl::unexpected(workloads.error());
  const Json* finished = nullptr;
  std::vector<std::string> out;
  for (const Json& workload : *workloads) {
    if (!belongs_to(workload, *found->object)) continue;
    if (state_of(workload) == WorkloadState::kFinished) {
      finished = &workload;
    } else {
      out.emplace_back(string_at(workload, {"metadata", "name"}));
    }
  }
  if (!out.empty()) return out;
  if (finished != nullptr) return fail(what + how_it_ended(*finished));
  return fail(what + " has no workload: " + why_no_workload(session, opened, *found));
}

bool means_workload(std::string_view type) { return type == "workload" || type == "wl" || type == "workloads"; }
bool means_cluster_queue(std::string_view type) {
  return type == "clusterqueue" || type == "cq" || type == "clusterqueues";
}
bool means_local_queue(std::string_view type) {
  return type == "localqueue" || type == "lq" || type == "localqueues" || type == "queue" || type == "queues";
}

}  // namespace berth::cli::queues
