#include "console/changes.h"

#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "console/names.h"
#include "console/replies.h"

namespace berth::console {
namespace {

Result<Json> stop_patch(const Json& change, std::string_view action) {
  const std::string_view policy = action == "resume" ? "None" : string_at(change, {"policy"});
  if (policy != "None" && policy != "Hold" && policy != "HoldAndDrain")
    return fail("policy: expected Hold or HoldAndDrain");
  if (action == "stop" && policy == "None") return fail("policy: expected Hold or HoldAndDrain");
  return Json(JsonObject{{"spec", JsonObject{{"stopPolicy", policy}}}});
}

}  // namespace

Result<api::RestRequest> read_change(const Json& change) {
  const std::string_view action = string_at(change, {"action"}), ns = string_at(change, {"namespace"}),
                         name = string_at(change, {"name"}), resource = string_at(change, {"resource"});
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kMerge;
  if (action == "stop" || action == "resume") {
    if (resource != "clusterqueues" && resource != "localqueues")
      return fail("resource: expected clusterqueues or localqueues");
    request.resource = resource == "clusterqueues" ? api::kClusterQueues : api::kLocalQueues;
    auto patch = stop_patch(change, action);
    if (!patch) return tl::unexpected(patch.error());
    request.body = std::move(*patch);
  } else if (action == "activate" || action == "deactivate") {
    request.resource = api::kWorkloads;
    request.body = JsonObject{{"spec", JsonObject{{"active", action == "activate"}}}};
  } else {
    return fail("action: expected stop, resume, activate or deactivate");
  }
  if (!may_be_name(name)) return fail("name: expected the name of an object");
  const bool namespaced = request.resource.resource != "clusterqueues";
  if (namespaced ? !may_be_name(ns) : !ns.empty())
    return fail(namespaced ? "namespace: expected the name of a namespace"
                           : "namespace: these objects are in no namespace");
  request.ns = ns;
  request.name = name;
  request.field_manager = "berth-console";
  return request;
}

void make_change(const AsUser& as_user, const std::string& token, api::RestRequest change,
                 std::function<void(http::HttpResponse)> done) {
  auto client = as_user(token);
  if (!client) return done(refusal(503, "the API server cannot be used with your token: " + client.error().message));
  api::RestClient& user = **client;
  user.call(std::move(change), [client = *client, done = std::move(done)](const api::RestResponse& response) {
    if (response.ok()) return done(no_content());
    const bool known = response.code == 400 || response.code == 401 || response.code == 403 || response.code == 404 ||
                       response.code == 409 || response.code == 422;
    done(refusal(known ? response.code : 503, api::failure_text(response)));
  });
}

}  // namespace berth::console
