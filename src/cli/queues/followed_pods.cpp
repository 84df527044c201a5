#include "cli/queues/followed_pods.h"

#include <set>
#include <string_view>
#include <utility>

#include "api/resources.h"
#include "cli/queues/discovery.h"
#include "cli/queues/job_pods.h"
#include "cli/queues/kinds.h"
#include "cli/queues/lister.h"
#include "cli/queues/pod_waits.h"
#include "cli/queues/warnings.h"
#include "cli/queues/words.h"
#include "cli/queues/workload_facts.h"

namespace berth::cli::queues {
namespace {

constexpr std::string_view kGroupLabel = "kueue.x-k8s.io/pod-group-name";

Result<Json> get_workload(Opened& opened, const std::string& name) {
  api::RestRequest request;
  request.verb = api::Verb::kGet;
  request.resource = kWorkload.resource();
  request.ns = opened.ns;
  request.name = name;
  api::RestResponse response = opened.server->call(std::move(request));
  if (!response.ok()) return fail(opened.server->explain(response, kWorkload.resource()));
  return std::move(response.body);
}

// The pods themselves own the workload, or are of its group.
JsonArray pods_that_own(const Json& workload, JsonArray& pods) {
  std::set<std::string, std::less<>> owners;
  for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"}))
    owners.emplace(string_at(owner, {"uid"}));
  const std::string_view name = string_at(workload, {"metadata", "name"});
  JsonArray out;
  for (Json& pod : pods) {
    if (owners.contains(string_at(pod, {"metadata", "uid"})) ||
        string_at(pod, {"metadata", "labels", kGroupLabel}) == name)
      out.push_back(std::move(pod));
  }
  return out;
}

struct Found {
  std::optional<ForObject> owner;  // of another kind than Pod
  JsonArray pods;
};

Result<Found> pods_of(const Session& session, Opened& opened, const Json& workload) {
  auto pods = list_objects(session, *opened.server,
                           {api::kPods, "Pod", opened.ns, {}, "status.phase!=Succeeded,status.phase!=Failed"});
  if (!pods) return tl::unexpected(pods.error());
  Found out;
  out.pods = pods_that_own(workload, *pods);
  const Json* owner = owner_of(workload);
  if (!out.pods.empty() || owner == nullptr || string_at(*owner, {"kind"}) == "Pod") return out;
  Discovery discovery(*opened.server);
  const auto kind =
      discovery.by_kind(std::string(string_at(*owner, {"apiVersion"})), std::string(string_at(*owner, {"kind"})));
  if (!kind) return tl::unexpected(kind.error());
  auto found =
      find_for(*opened.server, discovery, {kind->full_name(), std::string(string_at(*owner, {"name"}))}, opened.ns);
  if (!found) return tl::unexpected(found.error());
  if (!found->object) return out;
  const JobPods belong(found->resource, *found->object, {workload});
  for (Json& pod : *pods) {
    if (belong.has(pod)) out.pods.push_back(std::move(pod));
  }
  out.owner = std::move(*found);
  return out;
}

void follow(const Session& session, Opened& opened, const std::string& name, JsonObject& document) {
  const auto workload = get_workload(opened, name);
  if (const auto cluster = workload ? string_at(*workload, {"status", "clusterName"}) : std::string_view();
      !cluster.empty()) {
    document["noPods"] = "they run on the worker cluster " + std::string(cluster);
    return;
  }
  auto found = workload ? pods_of(session, opened, *workload) : tl::unexpected(workload.error());
  if (!found) {
    document["podsUnknown"] = found.error().message;
    return;
  }
  Warnings warnings(session, opened);
  const auto waits = waits_of(
      found->pods, [&](const Json& pod) { return warnings.about(string_at(pod, {"metadata", "uid"})).value_or(""); });
  if (!waits.empty()) document["podWaits"] = to_json(waits);
  if (!found->pods.empty() || !found->owner) return;
  const std::string warning = warnings.about(*found->owner).value_or("");
  document["noPods"] = warning.empty() ? "its pods are not there, or have ended" : "it has no pods: " + warning;
}

}  // namespace

void follow_pods(const Session& session, Opened& opened, Json& document) {
  if (!document.is_object()) return;
  const std::string name(string_at(document, {"metadata", "name"}));
  follow(session, opened, name, document.get_object());
}

std::optional<LivePods> live_pods(const Session& session, Opened& opened, const Json& workload) {
  auto found = pods_of(session, opened, workload);
  if (!found) return std::nullopt;
  Warnings warnings(session, opened);
  const auto waits = waits_of(
      found->pods, [&](const Json& pod) { return warnings.about(string_at(pod, {"metadata", "uid"})).value_or(""); });
  LivePods out{std::move(found->pods), {}};
  for (const Json& wait : to_json(waits)) out.waits.push_back(pod_wait_text(wait));
  return out;
}

std::string followed_pods_text(const Json& document) {
  std::string out;
  for (const Json& wait : array_at(document, {"podWaits"})) out += pod_wait_text(wait) + "\n";
  if (const std::string none = at(document, "noPods"); !none.empty()) out += none + "\n";
  if (const std::string unknown = at(document, "podsUnknown"); !unknown.empty())
    out += "They cannot be read: " + unknown + "\n";
  return out;
}

}  // namespace berth::cli::queues
