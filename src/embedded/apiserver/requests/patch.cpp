#include "embedded/apiserver/patch/patch.h"

#include <map>
#include <utility>

#include "api/status.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/decode.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/requests/patch_answers.h"
#include "embedded/apiserver/requests/reset_fields.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kPatchesOfCustomResources =
    "the body of the request was in an unknown format - accepted media types include: "
    "application/json-patch+json, "
    "application/merge-patch+json, application/apply-patch+yaml";

std::optional<api::RestResponse> check_options(const ResourceInfo& resource, const api::RestRequest& request) {
  const bool apply = request.patch_type == api::PatchType::kApply;
  if (apply && request.field_manager.empty()) {
    return invalid_options("PatchOptions", {api::required("fieldManager", "is required for apply patch")});
  }
  if (!apply && request.force) {
    return invalid_options("PatchOptions", {api::forbidden_field("force", "may not be specified for non-apply patch")});
  }
  if (request.patch_type == api::PatchType::kStrategicMerge && resource.custom) {
    return failure(415, "UnsupportedMediaType", kPatchesOfCustomResources);
  }
  return std::nullopt;
}

// --- server-side apply ---

std::optional<api::RestResponse> check_applied(const ResourceInfo& resource, const api::RestRequest& request) {
  if (!request.body.is_object()) return api::bad_request("error decoding YAML: the body is no object");
  const std::string_view version = string_at(request.body, {"apiVersion"});
  const std::string_view kind = string_at(request.body, {"kind"});
  if (version.empty() || kind.empty()) {
    return api::bad_request("invalid object type: " + (version.empty() ? "/" : std::string(version)) +
                            ", Kind=" + std::string(kind));
  }
  Json copy = request.body;
  if (auto checked = check_type(resource, copy); !checked) return checked.error();
  if (const Json* fields = find_path(request.body, {"metadata", "managedFields"});
      fields != nullptr && !fields->is_null() && !(fields->is_array() && fields->get_array().empty())) {
    return api::bad_request("metadata.managedFields must be nil");
  }
  return std::nullopt;
}

Answer apply_patch(Core& core, const ResourceInfo& resource, api::RestRequest& request) {
  if (auto refusal = check_applied(resource, request)) return {std::move(*refusal), 0};
  const ObjectKey key = key_of(resource, request.ns, request.name);
  const JsonPtr stored = core.store.get(key.bucket, key.item);
  const JsonPtr live = stored == nullptr ? std::make_shared<const Json>() : in_version(core, resource, stored);
  if (stored == nullptr && !request.subresource.empty()) {
    return {api::not_found(resource.gvr, request.name), core.store.revision()};
  }
  if (const std::string_view uid = string_at(request.body, {"metadata", "uid"}); stored == nullptr && !uid.empty()) {
    return {api::conflict(resource.gvr, request.name,
                          "uid mismatch: the provided object specified uid " + std::string(uid) +
                              ", and no existing object was found"),
            core.store.revision()};
  }
  if (stored == nullptr && string_at(request.body, {"metadata", "name"}).empty()) {
    ensure_path(request.body, {"metadata", "name"}) = request.name;
  }

  auto applied =
      server_side_apply(*live, request.body, *resource.schema,
                        {request.field_manager, api_version_of(resource), request.subresource, core.executor.now()},
                        request.force, reset_fields(resource, request.subresource));
  if (!applied) return {patch_failed(applied.error()), core.store.revision()};
  if (!applied->conflicts.empty()) return {apply_conflict(applied->conflicts), core.store.revision()};

  std::vector<std::string> warnings;
  const auto decoded =
      decode_object(resource, applied->object, request.field_validation, request.duplicate_fields, warnings);
  if (!decoded) return {cannot_be_handled(resource, decoded.error().message), core.store.revision()};
  if (const std::string_view name = string_at(applied->object, {"metadata", "name"}); name != request.name) {
    return {api::bad_request("the name of the object (" + std::string(name) + ") does not match the name on the URL (" +
                             request.name + ")"),
            core.store.revision()};
  }
  if (stored == nullptr) {
    return finish_create(core, resource, request, {std::move(applied->object), false, std::move(warnings)});
  }
  return finish_update(core, resource, request, {key, *live, std::move(applied->object), false, std::move(warnings)});
}

// --- the patches of an object that exists ---

tl::expected<Json, PatchError> patched(const ResourceInfo& resource, const api::RestRequest& request, const Json& old) {
  switch (request.patch_type) {
    case api::PatchType::kJson:
      return apply_json_patch(old, request.body);
    case api::PatchType::kStrategicMerge:
      return apply_strategic_merge_patch(old, request.body, *resource.schema);
    default:
      break;
  }
  if (!request.body.is_object()) {
    return tl::unexpected(PatchError{400, "error decoding patch: json: cannot unmarshal " + go_type(request.body) +
                                              " into Go value of type map[string]interface {}"});
  }
  return apply_merge_patch(old, request.body);
}

}  // namespace

Answer patch_object(Core& core, const ResourceInfo& resource, api::RestRequest& request) {
  if (auto refusal = check_options(resource, request)) return {std::move(*refusal), 0};
  if (request.patch_type == api::PatchType::kApply) return apply_patch(core, resource, request);

  const ObjectKey key = key_of(resource, request.ns, request.name);
  const JsonPtr stored = core.store.get(key.bucket, key.item);
  if (stored == nullptr) return {api::not_found(resource.gvr, request.name), core.store.revision()};
  Replacement replacement{key, *in_version(core, resource, stored), nullptr, true, {}};
  auto next = patched(resource, request, replacement.old);
  if (!next) return {patch_failed(next.error()), core.store.revision()};
  if (!next->is_object()) {
    return {patch_failed({422, "the patch leaves no object"}), core.store.revision()};
  }
  replacement.next = std::move(*next);
  if (auto checked = check_type(resource, replacement.next); !checked) return {checked.error(), core.store.revision()};
  std::string text;  // the patched object for the message, computed again because decoding changed it
  const auto decoded = decode_object(resource, replacement.next, request.field_validation, request.duplicate_fields,
                                     replacement.warnings);
  if (!decoded) {
    text = to_string(*patched(resource, request, replacement.old));
    return {api::invalid("", "", "", {api::invalid_value("patch", Json(text), decoded.error().message)}),
            core.store.revision()};
  }
  return finish_update(core, resource, request, std::move(replacement));
}

}  // namespace berth::apiserver
