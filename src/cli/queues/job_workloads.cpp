#include "cli/queues/job_workloads.h"

#include "cli/queues/discovery.h"
#include "cli/queues/lister.h"
#include "cli/queues/workload_facts.h"

namespace berth::cli::queues {

Result<std::vector<std::string>> workloads_of_job(const Session& session, Opened& opened, const std::string& type,
                                                  const std::string& name) {
  Discovery discovery(*opened.server);
  auto found = find_for(*opened.server, discovery, {type, name}, opened.ns);
  if (!found) return tl::unexpected(found.error());
  const std::string what = type + "/" + name;
  if (!found->object) return fail(what + " does not exist in namespace " + opened.ns);
  auto workloads =
      list_objects(session, *opened.server, {kWorkload.resource(), std::string(kWorkload.name), opened.ns, {}, {}});
  if (!workloads) return tl::unexpected(workloads.error());
  bool finished = false;
  std::vector<std::string> out;
  for (const Json& workload : *workloads) {
    if (!belongs_to(workload, *found->object)) continue;
    if (state_of(workload) == WorkloadState::kFinished) {
      finished = true;
    } else {
      out.emplace_back(string_at(workload, {"metadata", "name"}));
    }
  }
  if (!out.empty()) return out;
  if (finished) return fail(what + " has finished: its workload waits for nothing");
  const bool queued = !string_at(*found->object, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}).empty();
  return fail(what + " has no workload: " +
              (queued ? "its owner is queued in its place, its kind or namespace is not managed, or it is too new"
                      : "it has no label kueue.x-k8s.io/queue-name, so it is not queued"));
}

bool means_workload(std::string_view type) { return type == "workload" || type == "wl" || type == "workloads"; }
bool means_cluster_queue(std::string_view type) {
  return type == "clusterqueue" || type == "cq" || type == "clusterqueues";
}
bool means_local_queue(std::string_view type) {
  return type == "localqueue" || type == "lq" || type == "localqueues" || type == "queue" || type == "queues";
}

}  // namespace berth::cli::queues
