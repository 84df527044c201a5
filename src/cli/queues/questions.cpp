#include "cli/queues/questions.h"

#include <utility>

#include "api/visibility/visibility.h"
#include "controller/feature_gates.h"

namespace berth::cli::queues {
namespace {

std::string group_path() { return "/apis/" + std::string(api::visibility::kGroup); }
std::string version_path() { return group_path() + "/" + std::string(api::visibility::kVersions.front()); }

std::string refusal(Server& server, const api::RestResponse& response, std::string_view plural) {
  const std::string why = response.code == 404 ? why_not_served(server) : "";
  return why.empty() ? server.explain(response, visibility_resource(plural)) : why;
}

}  // namespace

api::GroupVersionResource visibility_resource(std::string_view plural) {
  return {std::string(api::visibility::kGroup), std::string(api::visibility::kVersions.front()), std::string(plural)};
}

std::string why_not_served(Server& server) {
  if (server.get(group_path()).code != 404) return "";
  return "the server does not serve the group " + std::string(api::visibility::kGroup) +
         ", which answers this: the feature gate " + std::string(controller::kVisibilityGate) +
         " of Berth is off, or no controller of Berth is installed";
}

Result<Json> ask_about(Server& server, std::string_view question, const std::string& ns, const std::string& name) {
  const std::string path = version_path() + "/namespaces/" + ns + "/workloads/" + name + "/" + std::string(question);
  api::RestResponse response = server.get(path + "?all=true");
  if (response.code == 403) response = server.get(path);
  if (response.ok()) return std::move(response.body);
  if (response.code == 404 && why_not_served(server).empty())
    return fail("workload " + ns + "/" + name + " has no " + std::string(question) +
                ": it does not exist, or it has finished");
  return fail(refusal(server, response, "workloads"));
}

Result<JsonArray> pending_in(Server& server, const QueueName& queue, std::size_t limit) {
  const std::string path =
      queue.ns.empty() ? "/clusterqueues/" + queue.name : "/namespaces/" + queue.ns + "/localqueues/" + queue.name;
  const api::RestResponse response = server.get(
      version_path() + path + "/" + std::string(api::visibility::kSubresource) + "?limit=" + std::to_string(limit));
  if (!response.ok()) return fail(refusal(server, response, queue.ns.empty() ? "clusterqueues" : "localqueues"));
  return array_at(response.body, {"items"});
}

}  // namespace berth::cli::queues
