// The scale subresource: a Scale object that reads and writes replicas through the paths that the resource defines.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#scale-subresource
#include <utility>

#include "api/printing/table.h"
#include "api/status.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/patch_answers.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kScaleVersion = "autoscaling/v1";

std::vector<std::string> steps_of(std::string_view path) {  // ".spec.replicas"
  std::vector<std::string> steps;
  while (!path.empty()) {
    if (path.front() == '.') path.remove_prefix(1);
    const std::size_t end = std::min(path.find('.'), path.size());
    steps.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return steps;
}

const Json* value_at(const Json& object, std::string_view path) {
  const Json* at = &object;
  for (const std::string& step : steps_of(path)) {
    at = find(*at, step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::int64_t replicas_at(const Json& object, std::string_view path) {
  const Json* value = value_at(object, path);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

void set_replicas(Json& object, std::string_view path, std::int64_t replicas) {
  Json* at = &object;
  for (const std::string& step : steps_of(path)) at = &ensure_path(*at, {step});
  *at = replicas;
}

Json scale_of(const ResourceInfo& resource, const Json& object) {
  JsonObject metadata;
  for (const std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = find_path(object, {"metadata", key})) metadata[key] = *value;
  }
  JsonObject status{{"replicas", replicas_at(object, resource.scale_status_path)}};
  if (!resource.scale_selector_path.empty()) {
    const Json* selector = value_at(object, resource.scale_selector_path);
    if (selector != nullptr && selector->is_string()) status["selector"] = *selector;
    if (selector != nullptr && selector->is_object()) status["selector"] = api::selector_text(selector);
  }
  return JsonObject{{"kind", "Scale"},
                    {"apiVersion", kScaleVersion},
                    {"metadata", std::move(metadata)},
                    {"spec", JsonObject{{"replicas", replicas_at(object, resource.scale_spec_path)}}},
                    {"status", std::move(status)}};
}

tl::expected<Json, api::RestResponse> new_scale(const api::RestRequest& request, const Json& scale) {
  if (request.verb == api::Verb::kUpdate) return request.body;
  if (request.patch_type == api::PatchType::kJson) {
    auto patched = apply_json_patch(scale, request.body);
    if (!patched) return tl::unexpected(patch_failed(patched.error()));
    return std::move(*patched);
  }
  if (request.patch_type != api::PatchType::kMerge || !request.body.is_object()) {
    return tl::unexpected(failure(415, "UnsupportedMediaType",
                                  "the body of the request was in an unknown format - accepted media types include: "
                                  "application/json-patch+json, application/merge-patch+json"));
  }
  return apply_merge_patch(scale, request.body);
}

api::RestResponse invalid_scale(const api::RestRequest& request, api::FieldError error) {
  return api::invalid("autoscaling", "Scale", request.name, {std::move(error)});
}

}  // namespace

Answer get_scale(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  Answer answer = get_object(core, resource, request);
  if (answer.response.ok()) answer.response.body = scale_of(resource, answer.response.body);
  return answer;
}

Answer write_scale(Core& core, const ResourceInfo& resource, api::RestRequest& request) {
  Answer current = get_object(core, resource, request);
  if (!current.response.ok()) return current;
  const Json& old = current.response.body;
  const auto scale = new_scale(request, scale_of(resource, old));
  if (!scale) return {scale.error(), core.store.revision()};
  const Json* replicas = find_path(*scale, {"spec", "replicas"});
  if (replicas == nullptr || !replicas->is_int64()) {
    return {invalid_scale(request, api::required("spec.replicas", "must be an integer")), core.store.revision()};
  }
  if (replicas->get_int64() < 0) {
    return {
        invalid_scale(request, api::invalid_value("spec.replicas", *replicas, "must be greater than or equal to 0")),
        core.store.revision()};
  }
  Replacement replacement{key_of(resource, request.ns, request.name), old, old, true, {}};
  set_replicas(replacement.next, resource.scale_spec_path, replicas->get_int64());
  // If the Scale has a resourceVersion, the update is conditional on it; otherwise it is unconditional.
  const std::string_view version = resource_version_of(*scale);
  if (!version.empty()) ensure_path(replacement.next, {"metadata", "resourceVersion"}) = version;
  Answer answer = finish_update(core, resource, request, std::move(replacement));
  if (answer.response.ok()) answer.response.body = scale_of(resource, answer.response.body);
  return answer;
}

}  // namespace berth::apiserver
