#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/decode.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/requests/reset_fields.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

constexpr int kGenerateAttempts = 8;  // as in kube-apiserver; there are 27^5 suffixes, so a collision is rare

// An error response when the namespace does not accept new objects.
std::optional<api::RestResponse> check_namespace(Core& core, const ResourceInfo& resource, const std::string& ns,
                                                 std::string_view name) {
  if (!resource.namespaced || core.registry.find(api::kNamespaces) == nullptr) return std::nullopt;
  const JsonPtr found = core.lookup.get(api::kNamespaces, "", ns);
  if (found == nullptr) return api::not_found(api::kNamespaces, ns);
  if (!is_deleting(*found)) return std::nullopt;
  auto response = api::forbidden(resource.gvr, name,
                                 "unable to create new content in namespace " + ns + " because it is being terminated");
  ensure_path(response.body, {"details", "causes"}) =
      JsonArray{JsonObject{{"reason", "NamespaceTerminating"},
                           {"message", "namespace " + ns + " is being terminated"},
                           {"field", "metadata.namespace"}}};
  return response;
}

// Sets the object's namespace to the request's; an error response when they conflict.
std::optional<api::RestResponse> settle_namespace(const ResourceInfo& resource, const api::RestRequest& request,
                                                  Json& object) {
  const std::string given(string_at(object, {"metadata", "namespace"}));
  if (!resource.namespaced) {
    erase_path(object, {"metadata", "namespace"});
    return std::nullopt;
  }
  if (!request.ns.empty() && !given.empty() && given != request.ns) {
    return api::bad_request("the namespace of the provided object does not match the namespace sent on the request");
  }
  const std::string& ns = request.ns.empty() ? given : request.ns;
  if (ns.empty()) return api::bad_request("an empty namespace may not be set during creation");
  ensure_path(object, {"metadata", "namespace"}) = ns;
  return std::nullopt;
}

// The name of the new object; a generated name avoids existing names.
std::string choose_name(Core& core, const ResourceInfo& resource, const Json& object) {
  const std::string_view name = string_at(object, {"metadata", "name"});
  const std::string_view prefix = string_at(object, {"metadata", "generateName"});
  if (!name.empty() || prefix.empty()) return std::string(name);
  const std::string ns(string_at(object, {"metadata", "namespace"}));
  std::string generated;
  for (int i = 0; i < kGenerateAttempts; ++i) {
    generated = core.names.generate(prefix);
    const ObjectKey key = key_of(resource, ns, generated);
    if (core.store.revision_of(key.bucket, key.item) == 0) break;
  }
  return generated;
}

api::FieldErrors validate_new(const Core& core, const ResourceInfo& resource, const Json& object) {
  api::FieldErrors errors = validate_metadata(resource, object);
  if (resource.custom) add_new(errors, validate_custom_object(object, nullptr, resource, ""));
  if (resource.strategy.validate) add_new(errors, resource.strategy.validate(object, core.lookup));
  return errors;
}

// Status can be written only through its subresource.
void reset_status(const ResourceInfo& resource, Json& object) {
  const Json* empty = find(resource.zero, "status");
  if (empty != nullptr) {
    object.as_object()["status"] = *empty;
  } else {
    object.as_object().stable_erase("status");
  }
}

Answer finish(Core& core, api::RestResponse response, std::vector<std::string> warnings) {
  response.warnings.insert(response.warnings.begin(), std::make_move_iterator(warnings.begin()),
                           std::make_move_iterator(warnings.end()));
  return {std::move(response), core.store.revision()};
}

}  // namespace

Answer create_object(Core& core, const ResourceInfo& resource, api::RestRequest& request) {
  if (!request.body.is_object()) {
    return {api::bad_request("the object provided is unrecognized (must be of type " + resource.kind +
                             "): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"),
            0};
  }
  Creation creation{std::move(request.body), true, {}};
  if (auto checked = check_type(resource, creation.object); !checked) return {checked.error(), 0};
  const auto decoded =
      decode_object(resource, creation.object, request.field_validation, request.duplicate_fields, creation.warnings);
  if (!decoded) return finish(core, cannot_be_handled(resource, decoded.error().message), {});
  if (!resource_version_of(creation.object).empty()) {
    return {failure(500, "", "resourceVersion should not be set on objects to be created"), 0};
  }
  return finish_create(core, resource, request, std::move(creation));
}

Answer finish_create(Core& core, const ResourceInfo& resource, const api::RestRequest& request, Creation creation) {
  Json& object = creation.object;
  if (auto refusal = settle_namespace(resource, request, object)) return {std::move(*refusal), 0};
  const std::string ns(string_at(object, {"metadata", "namespace"}));
  reset_metadata_for_create(object);
  if (resource.has_status && !resource.strategy.status_kept_on_create) reset_status(resource, object);
  if (creation.track && resource.schema != nullptr) {
    track_update(resource.zero, object, *resource.schema,
                 {request.field_manager.empty() ? "unknown" : request.field_manager, api_version_of(resource), "",
                  core.executor.now()},
                 reset_fields(resource, ""));
  }
  if (auto refusal = check_namespace(core, resource, ns, string_at(object, {"metadata", "name"}))) {
    return finish(core, std::move(*refusal), {});
  }

  const std::string name = choose_name(core, resource, object);
  if (!name.empty()) ensure_path(object, {"metadata", "name"}) = name;
  ensure_path(object, {"metadata", "uid"}) = core.names.uid();
  ensure_path(object, {"metadata", "creationTimestamp"}) = format_time(core.executor.now());
  if (resource.strategy.counts_generation) ensure_path(object, {"metadata", "generation"}) = 1;
  if (resource.strategy.prepare_create) resource.strategy.prepare_create(object, core.lookup);
  if (resource.strategy.admit) {
    if (auto refusal = resource.strategy.admit(object, nullptr, core.lookup)) {
      return finish(core, std::move(*refusal), std::move(creation.warnings));
    }
  }
  if (const auto errors = validate_new(core, resource, object); !errors.empty()) {
    return finish(core, invalid_object(resource, name, errors), std::move(creation.warnings));
  }
  if (resource.strategy.validating_admission) {
    if (auto refusal = resource.strategy.validating_admission(object, nullptr, "", core.lookup))
      return finish(core, std::move(*refusal), std::move(creation.warnings));
  }
  if (resource.strategy.admission_warning) {
    if (std::string warning = resource.strategy.admission_warning(object, nullptr, core.lookup); !warning.empty())
      creation.warnings.push_back(std::move(warning));
  }

  const ObjectKey key = key_of(resource, ns, name);
  if (core.store.revision_of(key.bucket, key.item) != 0) {
    return finish(core, api::already_exists(resource.gvr, name), std::move(creation.warnings));
  }
  if (request.dry_run) return finish(core, ok(std::move(object), 201), std::move(creation.warnings));
  const auto stored = core.store.put(key, to_stored(resource, std::move(object)), 0);
  if (!stored) return finish(core, refused(resource, name, stored.error(), core.store), {});
  return finish(core, ok(*in_version(core, resource, *stored), 201), std::move(creation.warnings));
}

}  // namespace berth::apiserver
