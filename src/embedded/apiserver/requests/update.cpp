#include <utility>

#include "api/status.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/decode.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/requests/reset_fields.h"

namespace berth::apiserver {
namespace {

std::string registry_path(const ResourceInfo& resource, const ObjectKey& key) {
  std::string path = "/registry/";
  if (resource.custom) path += resource.gvr.group + "/";
  path += resource.gvr.resource;
  return path + (key.item.starts_with('/') ? "" : "/") + key.item;
}

// Checks the new object's name, namespace, uid and resourceVersion against the request and the stored object.
std::optional<api::RestResponse> check_identity(Core& core, const ResourceInfo& resource,
                                                const api::RestRequest& request, const Replacement& r) {
  const std::string_view name = string_at(r.next, {"metadata", "name"});
  if (!name.empty() && name != request.name) {
    return api::bad_request("the name of the object (" + std::string(name) + ") does not match the name on the URL (" +
                            request.name + ")");
  }
  const std::string_view ns = string_at(r.next, {"metadata", "namespace"});
  if (resource.namespaced && !ns.empty() && ns != request.ns) {
    return api::bad_request("the namespace of the object (" + std::string(ns) +
                            ") does not match the namespace on the request (" + request.ns + ")");
  }
  const std::string_view uid = string_at(r.next, {"metadata", "uid"});
  const std::string_view old_uid = string_at(r.old, {"metadata", "uid"});
  if (!uid.empty() && uid != old_uid) {
    return api::conflict(resource.gvr, request.name,
                         "StorageError: invalid object, Code: 4, Key: " + registry_path(resource, r.key) +
                             ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: " +
                             std::string(uid) + ", UID in object meta: " + std::string(old_uid));
  }
  const std::string_view version = resource_version_of(r.next);
  if (version.empty() || version == "0") {
    if (resource.strategy.unconditional_update && !resource.custom) return std::nullopt;
    return api::invalid(resource.gvr.group, resource.gvr.resource, request.name,
                        {api::invalid_value("metadata.resourceVersion", Json(0), "must be specified for an update")});
  }
  if (const auto revision = parse_revision(version); !revision) {
    return api::bad_request("invalid resource version: " + revision.error().message);
  }
  if (version != resource_version_of(r.old)) return modified(resource, request.name);
  static_cast<void>(core);
  return std::nullopt;
}

void copy_member(JsonObject& to, const JsonObject& from, std::string_view key) {
  if (const Json* value = from.if_contains(key)) {
    to[key] = *value;
  } else {
    to.stable_erase(key);
  }
}

// A write to a subresource changes only that part; a write to the main resource does not change the status.
void confine_to_subresource(const ResourceInfo& resource, std::string_view subresource, Json& next, const Json& old) {
  JsonObject& object = next.as_object();
  if (subresource == "status") {
    JsonObject confined = old.as_object();
    copy_member(confined, object, "status");
    if (resource.custom) {
      const Json* fields = find_path(next, {"metadata", "managedFields"});
      Json managed = fields == nullptr ? Json(nullptr) : *fields;
      if (managed.is_null()) {
        erase_path(confined["metadata"], {"managedFields"});
      } else {
        ensure_path(confined["metadata"], {"managedFields"}) = std::move(managed);
      }
    } else {
      copy_member(confined, object, "metadata");
    }
    object = std::move(confined);
  } else if (resource.has_status) {
    copy_member(object, old.as_object(), "status");
  }
}

api::FieldErrors validate_changed(const Core& core, const ResourceInfo& resource, std::string_view subresource,
                                  const Json& next, const Json& old) {
  api::FieldErrors errors = validate_metadata_update(next, old);
  if (resource.custom)
    add_new(errors, validate_custom_object(next, &old, resource, subresource == "status" ? "status" : ""));
  if (resource.strategy.validate && subresource.empty()) add_new(errors, resource.strategy.validate(next, core.lookup));
  if (resource.strategy.validate_update) add_new(errors, resource.strategy.validate_update(next, old, subresource));
  return errors;
}

// Whether a terminating object can be removed now: no finalizers and no grace period are left.
bool is_ready_to_go(const ResourceInfo& resource, const Json& next) {
  if (!is_deleting(next) || !array_at(next, {"metadata", "finalizers"}).empty()) return false;
  if (!array_at(next, {"spec", "finalizers"}).empty() && resource.gvr.group.empty() &&
      resource.gvr.resource == "namespaces") {
    return false;
  }
  return int_at(next, {"metadata", "deletionGracePeriodSeconds"}) == 0;
}

}  // namespace

Answer update_object(Core& core, const ResourceInfo& resource, api::RestRequest& request) {
  if (!request.body.is_object()) {
    return {api::bad_request("the object provided is unrecognized (must be of type " + resource.kind +
                             "): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"),
            0};
  }
  Replacement replacement{key_of(resource, request.ns, request.name), nullptr, std::move(request.body), true, {}};
  if (auto checked = check_type(resource, replacement.next); !checked) return {checked.error(), 0};
  const auto decoded = decode_object(resource, replacement.next, request.field_validation, request.duplicate_fields,
                                     replacement.warnings);
  if (!decoded) return {cannot_be_handled(resource, decoded.error().message), 0};

  const std::string_view name = string_at(replacement.next, {"metadata", "name"});
  if (!name.empty() &&
      name != request.name) {  // before the lookup, because this error is more specific than "not found"
    return {api::bad_request("the name of the object (" + std::string(name) + ") does not match the name on the URL (" +
                             request.name + ")"),
            0};
  }
  const JsonPtr stored = core.store.get(replacement.key.bucket, replacement.key.item);
  if (stored == nullptr) return {api::not_found(resource.gvr, request.name), core.store.revision()};
  replacement.old = *in_version(core, resource, stored);
  return finish_update(core, resource, request, std::move(replacement));
}

Answer finish_update(Core& core, const ResourceInfo& resource, const api::RestRequest& request, Replacement r) {
  const auto answer = [&](api::RestResponse response) -> Answer {
    response.warnings.insert(response.warnings.begin(), r.warnings.begin(), r.warnings.end());
    return {std::move(response), core.store.revision()};
  };
  if (auto refusal = check_identity(core, resource, request, r)) return answer(std::move(*refusal));

  keep_metadata_for_update(r.next, r.old);
  ensure_path(r.next, {"metadata", "resourceVersion"}) = resource_version_of(r.old);
  confine_to_subresource(resource, request.subresource, r.next, r.old);
  if (r.track && resource.schema != nullptr) {
    track_update(r.old, r.next, *resource.schema,
                 {request.field_manager.empty() ? "unknown" : request.field_manager, api_version_of(resource),
                  request.subresource, core.executor.now()},
                 reset_fields(resource, request.subresource));
  }
  if (resource.strategy.prepare_update)
    resource.strategy.prepare_update(r.next, r.old, request.subresource, core.lookup);
  if (resource.strategy.admit && request.subresource.empty()) {
    if (auto refusal = resource.strategy.admit(r.next, &r.old, core.lookup)) return answer(std::move(*refusal));
  }
  if (resource.strategy.counts_generation && request.subresource != "status" &&
      !same_desired_state(r.next, r.old, resource.has_status)) {
    ensure_path(r.next, {"metadata", "generation"}) = int_at(r.old, {"metadata", "generation"}) + 1;
  }
  if (const auto errors = validate_changed(core, resource, request.subresource, r.next, r.old); !errors.empty()) {
    return answer(invalid_object(resource, request.name, errors));
  }
  if (resource.strategy.validating_admission) {
    if (auto refusal = resource.strategy.validating_admission(r.next, &r.old, request.subresource, core.lookup))
      return answer(std::move(*refusal));
  }
  if (resource.strategy.admission_warning && request.subresource.empty()) {
    if (std::string warning = resource.strategy.admission_warning(r.next, &r.old, core.lookup); !warning.empty())
      r.warnings.push_back(std::move(warning));
  }

  if (json_equal(r.next, r.old)) return answer(ok(std::move(r.next)));
  if (request.dry_run) return answer(ok(std::move(r.next)));
  const Revision expected = core.store.revision_of(r.key.bucket, r.key.item);
  if (is_ready_to_go(resource, r.next)) {
    const auto removed = core.store.remove(r.key, expected);
    if (!removed) return answer(refused(resource, request.name, removed.error(), core.store));
    return answer(ok(std::move(r.next)));
  }
  const auto stored = core.store.put(r.key, to_stored(resource, std::move(r.next)), expected);
  if (!stored) return answer(refused(resource, request.name, stored.error(), core.store));
  return answer(ok(*in_version(core, resource, *stored)));
}

}  // namespace berth::apiserver
