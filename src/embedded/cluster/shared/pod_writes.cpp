#include "embedded/cluster/shared/pod_writes.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "api/owners.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"

namespace berth::cluster {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr Duration kRetryRefused = std::chrono::seconds(30);  // the same write is hardly accepted a second later

api::RestRequest request_about(const Json& pod, api::Verb verb) {
  api::RestRequest request;
  request.verb = verb;
  request.resource = api::kPods;
  request.ns = string_at(pod, {"metadata", "namespace"});
  request.name = string_at(pod, {"metadata", "name"});
  return request;
}

}  // namespace

std::string pod_key(const Json& pod) {
  return api::object_key(string_at(pod, {"metadata", "namespace"}), string_at(pod, {"metadata", "name"}));
}

bool has_controller(const Json& object) { return api::controller_of(object) != nullptr; }

bool pod_terminating(const Json& pod) { return find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr; }

Json pod_condition(std::string_view type, bool status, std::string_view now, std::string_view reason,
                   std::string_view message) {
  JsonObject c{{"type", type}, {"status", status ? "True" : "False"}, {"lastTransitionTime", now}};
  if (!reason.empty()) c["reason"] = reason;
  if (!message.empty()) c["message"] = message;
  return c;
}

api::RestRequest patch_pod_status(const Json& pod, Json status) {
  api::RestRequest request = request_about(pod, api::Verb::kPatch);
  request.patch_type = api::PatchType::kStrategicMerge;
  request.subresource = "status";
  request.body =
      JsonObject{{"metadata", JsonObject{{"uid", string_at(pod, {"metadata", "uid"})}}}, {"status", std::move(status)}};
  return request;
}

api::RestRequest delete_pod(const Json& pod, std::optional<std::int64_t> grace_seconds) {
  api::RestRequest request = request_about(pod, api::Verb::kDelete);
  request.body = JsonObject{{"preconditions", JsonObject{{"uid", string_at(pod, {"metadata", "uid"})}}}};
  if (grace_seconds) request.body.as_object()["gracePeriodSeconds"] = *grace_seconds;
  return request;
}

void Writer::send(api::RestRequest request, std::function<void()> again) {
  client_.call(std::move(request), lifetime_.guard([this, again = std::move(again)](const api::RestResponse& response) {
    if (response.ok() || response.code == 404 || response.code == 409) return;
    const bool refused = response.code == 400 || response.code == 403 || response.code == 422;
    if (refused)
      log::warn("the API server refuses a write of the pretend cluster, retrying in 30 s",
                {{"why", api::failure_text(response)}});
    executor_.after(refused ? kRetryRefused : kRetry, lifetime_.guard(again));
  }));
}

}  // namespace berth::cluster
