#include "conformance/site.h"

#include <utility>

#include "api/status.h"

namespace berth::conformance {
namespace {

Result<Json> body_of(api::RestResponse response) {
  if (response.ok()) return std::move(response.body);
  const auto message = api::status_message(response);
  return fail(message.empty() ? "the server answered " + std::to_string(response.code) : std::string(message));
}

bool has(const Json& recording, std::string_view controller) {
  for (const Json& one : array_at(recording, {"controllers"})) {
    if (one.is_string() && view(one.get_string()) == controller) return true;
  }
  return false;
}

// The kinds that the recorder's files of definitions have.
std::string kinds_in(std::string_view file) {
  if (file == "jobset-operator") return "jobsets";
  if (file == "training-operator-crds") return "jaxjobs,paddlejobs,pytorchjobs,tfjobs,xgboostjobs";
  if (file == "kf-trainer-crds") return "trainjobs";
  if (file == "ray-operator-crds") return "rayclusters,rayjobs,rayservices";
  return std::string(file);
}

}  // namespace

SiteOptions options_of(const Json& recording) {
  SiteOptions options;
  if (const Json* configuration = find(recording, "configuration")) options.configuration = *configuration;
  if (const Json* gates = find(recording, "gates")) options.gates = *gates;
  for (const Json& file : array_at(recording, {"crds"}))
    options.external_kinds.append(options.external_kinds.empty() ? "" : ",").append(kinds_in(view(file.get_string())));
  options.webhooks = bool_at(recording, {"webhooks"});
  if (find(recording, "controllers") == nullptr) return options;
  options.job_controller = has(recording, "job");
  options.apps_controllers = has(recording, "replicaset") || has(recording, "statefulset");
  options.garbage_collector = has(recording, "garbage-collector");
  return options;
}

Result<Json> Site::create(Json object) {
  auto request = request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}),
                             string_at(object, {"metadata", "namespace"}), {});
  if (!request) return tl::unexpected(request.error());
  request->verb = api::Verb::kCreate;
  request->field_validation = api::FieldValidation::kStrict;
  request->body = std::move(object);
  return body_of(call(std::move(*request)));
}

Result<Json> Site::get(std::string_view api_version, std::string_view kind, std::string_view ns,
                       std::string_view name) {
  auto request = request_for(api_version, kind, ns, name);
  if (!request) return tl::unexpected(request.error());
  request->verb = api::Verb::kGet;
  return body_of(call(std::move(*request)));
}

}  // namespace berth::conformance
