#include <algorithm>
#include <array>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/status.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/crds.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/metadata.h"

namespace berth::apiserver {
namespace {

constexpr std::array<std::string_view, 3> kImmortalNamespaces{"default", "kube-system", "kube-public"};
constexpr std::string_view kOrphanWarning =
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
    "them or set "
    "propagationPolicy=Orphan to suppress this warning";

bool is_namespace(const ResourceInfo& resource) {
  return resource.gvr.group.empty() && resource.gvr.resource == "namespaces";
}

std::optional<api::RestResponse> check_delete_options(const Json& options) {
  api::FieldErrors errors;
  const std::string_view policy = string_at(options, {"propagationPolicy"});
  const Json* orphan = find(options, "orphanDependents");
  if (!policy.empty() && orphan != nullptr && !orphan->is_null()) {
    errors.push_back(api::invalid_value("propagationPolicy", Json(policy),
                                        "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (!policy.empty() && policy != "Foreground" && policy != "Background" && policy != "Orphan") {
    errors.push_back(
        api::not_supported("propagationPolicy", Json(policy), {"Foreground", "Background", "Orphan", "nil"}));
  }
  if (errors.empty()) return std::nullopt;
  return invalid_options("DeleteOptions", errors);
}

api::RestResponse precondition_failed(const ResourceInfo& resource, std::string_view name, const std::string& why) {
  return api::conflict({resource.gvr.group, resource.gvr.version, resource.kind}, name, why);
}

std::optional<api::RestResponse> check_preconditions(const ResourceInfo& resource, const Json& object,
                                                     const Json& options) {
  const std::string_view name = string_at(object, {"metadata", "name"});
  const std::string_view uid = string_at(options, {"preconditions", "uid"});
  const std::string_view actual_uid = string_at(object, {"metadata", "uid"});
  if (!uid.empty() && uid != actual_uid) {
    return precondition_failed(resource, name,
                               "the UID in the precondition (" + std::string(uid) +
                                   ") does not match the UID in record (" + std::string(actual_uid) +
                                   "). The object might have been deleted and then recreated");
  }
  const std::string_view version = string_at(options, {"preconditions", "resourceVersion"});
  if (!version.empty() && version != resource_version_of(object)) {
    return precondition_failed(resource, name,
                               "the ResourceVersion in the precondition (" + std::string(version) +
                                   ") does not match the ResourceVersion in record (" +
                                   std::string(resource_version_of(object)) + "). The object might have been modified");
  }
  return std::nullopt;
}

// "Foreground", "Background" or "Orphan"; empty: the object's finalizers already specify it.
std::string propagation(const ResourceInfo& resource, const Json& object, const Json& options) {
  const std::string_view policy = string_at(options, {"propagationPolicy"});
  if (!policy.empty()) return std::string(policy);
  if (const Json* orphan = find(options, "orphanDependents"); orphan != nullptr && orphan->is_bool()) {
    return orphan->get_bool() ? "Orphan" : "Background";
  }
  if (has_finalizer(object, kOrphanFinalizer) || has_finalizer(object, kForegroundFinalizer)) return {};
  return resource.strategy.default_propagation;
}

// Sets the finalizers that tell the garbage collector how to treat the dependents. Returns true when they changed.
bool ask_collector(Json& object, const std::string& policy) {
  bool changed = false;
  if (policy.empty()) return false;
  if (policy != "Orphan") changed |= remove_finalizer(object, kOrphanFinalizer);
  if (policy != "Foreground") changed |= remove_finalizer(object, kForegroundFinalizer);
  if (policy == "Orphan") changed |= add_finalizer(object, kOrphanFinalizer);
  if (policy == "Foreground") changed |= add_finalizer(object, kForegroundFinalizer);
  return changed;
}

// The grace period of a pod in seconds; 0 for other kinds.
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
std::int64_t grace_period(const ResourceInfo& resource, const Json& object, const Json& options) {
  if (!resource.strategy.graceful_delete) return 0;
  std::int64_t seconds = int_at(object, {"spec", "terminationGracePeriodSeconds"}, 0);
  if (const auto asked = optional_int_at(options, {"gracePeriodSeconds"})) seconds = *asked;
  if (string_at(object, {"spec", "nodeName"}).empty()) return 0;  // no kubelet runs it
  if (api::pod_ended(object)) return 0;
  return seconds < 0 ? 1 : seconds;
}

void mark_deleting(Json& object, std::int64_t grace, Time now, bool write_grace) {
  ensure_path(object, {"metadata", "deletionTimestamp"}) = format_time(now + std::chrono::seconds(grace));
  if (write_grace) ensure_path(object, {"metadata", "deletionGracePeriodSeconds"}) = grace;
}

void bump_generation(Json& object) {
  if (const auto generation = optional_int_at(object, {"metadata", "generation"}); generation && *generation > 0) {
    ensure_path(object, {"metadata", "generation"}) = *generation + 1;
  }
}

struct Deletion {
  Json object;  // the state to store, or the last state when it is removed
  bool changed = false;
  bool remove = false;
};

// Starts the deletion, or advances a running one, as far as this request allows.
Deletion advance(const ResourceInfo& resource, const Json& old, const Json& options, Time now) {
  Deletion deletion{old, false, false};
  Json& object = deletion.object;
  const bool deleting = is_deleting(old);
  deletion.changed = ask_collector(object, propagation(resource, old, options));
  std::int64_t grace = grace_period(resource, old, options);
  const std::int64_t given = int_at(old, {"metadata", "deletionGracePeriodSeconds"});
  // Without gracePeriodSeconds a running deletion keeps its deadline. A request can shorten it, never extend it.
  if (deleting && (!optional_int_at(options, {"gracePeriodSeconds"}) || grace > given)) grace = given;

  const bool held = !array_at(object, {"metadata", "finalizers"}).empty() ||
                    (is_namespace(resource) && !array_at(object, {"spec", "finalizers"}).empty());
  if (grace == 0 && !held) {
    deletion.remove = true;
    if (resource.strategy.graceful_delete) mark_deleting(object, 0, now, true);
    return deletion;
  }
  if (!deleting) {
    mark_deleting(object, grace, now, !is_namespace(resource) && !is_crd(resource));
    if (!is_crd(resource)) bump_generation(object);
    if (is_namespace(resource)) ensure_path(object, {"status", "phase"}) = "Terminating";
    deletion.changed = true;
  } else if (grace < given) {
    mark_deleting(object, grace, now, true);
    deletion.changed = true;
  }
  return deletion;
}

api::RestResponse deleted_status(const ResourceInfo& resource, const Json& object) {
  JsonObject details{{"name", string_at(object, {"metadata", "name"})}};
  if (!resource.gvr.group.empty()) details["group"] = resource.gvr.group;
  details["kind"] = resource.gvr.resource;
  details["uid"] = string_at(object, {"metadata", "uid"});
  return success(200, std::move(details));
}

// Deletes one object that is known to exist.
api::RestResponse delete_stored(Core& core, const ResourceInfo& resource, const ObjectKey& key, const Json& old,
                                const Json& options, bool dry_run) {
  const std::string name(string_at(old, {"metadata", "name"}));
  if (auto refusal = check_preconditions(resource, old, options)) return std::move(*refusal);
  if (resource.strategy.deletion_admission) {
    if (const auto allowed = resource.strategy.deletion_admission(old, core.lookup); !allowed)
      return api::forbidden(resource.gvr, name, allowed.error().message);
  }
  Json prepared = old;
  if (is_crd(resource)) prepare_crd_deletion(prepared, core.executor.now());
  Deletion deletion = advance(resource, prepared, options, core.executor.now());
  api::RestResponse response;
  const Revision expected = core.store.revision_of(key.bucket, key.item);
  if (deletion.remove) {
    const bool returns_object = resource.strategy.graceful_delete;
    JsonPtr last = std::make_shared<const Json>(deletion.object);
    if (!dry_run) {
      const auto removed = core.store.remove(
          key, expected,
          returns_object ? std::optional<Json>(to_stored(resource, std::move(deletion.object))) : std::nullopt);
      if (!removed) return refused(resource, name, removed.error(), core.store);
      last = in_version(core, resource, *removed);
    }
    response = returns_object ? ok(*last) : deleted_status(resource, *last);
  } else if (dry_run || !deletion.changed) {
    response = ok(std::move(deletion.object));
  } else {
    const auto stored = core.store.put(key, to_stored(resource, std::move(deletion.object)), expected);
    if (!stored) return refused(resource, name, stored.error(), core.store);
    response = ok(*in_version(core, resource, *stored));
  }
  return response;
}

}  // namespace

Answer delete_object(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  if (auto refusal = check_delete_options(request.body)) return {std::move(*refusal), 0};
  if (is_namespace(resource) && std::ranges::find(kImmortalNamespaces, request.name) != kImmortalNamespaces.end()) {
    return {api::forbidden(resource.gvr, request.name, "this namespace may not be deleted"), 0};
  }
  const ObjectKey key = key_of(resource, request.ns, request.name);
  const JsonPtr stored = core.store.get(key.bucket, key.item);
  if (stored == nullptr) return {api::not_found(resource.gvr, request.name), core.store.revision()};
  const bool dry_run = request.dry_run || !array_at(request.body, {"dryRun"}).empty();
  auto response = delete_stored(core, resource, key, *in_version(core, resource, stored), request.body, dry_run);
  const Json* orphan = find(request.body, "orphanDependents");
  if (resource.gvr.group == "batch" && resource.gvr.resource == "jobs" &&
      resource.strategy.default_propagation == "Orphan" && string_at(request.body, {"propagationPolicy"}).empty() &&
      orphan == nullptr) {
    response.warnings.emplace_back(kOrphanWarning);
  }
  return {std::move(response), core.store.revision()};
}

Answer delete_collection(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  if (auto refusal = check_delete_options(request.body)) return {std::move(*refusal), 0};
  Answer list = list_objects(core, resource, request);
  if (!list.response.ok()) return list;
  const bool dry_run = request.dry_run || !array_at(request.body, {"dryRun"}).empty();
  for (const Json& item : array_at(list.response.body, {"items"})) {
    const std::string ns(string_at(item, {"metadata", "namespace"}));
    const std::string name(string_at(item, {"metadata", "name"}));
    if (is_namespace(resource) && std::ranges::find(kImmortalNamespaces, name) != kImmortalNamespaces.end()) continue;
    const ObjectKey key = key_of(resource, ns, name);
    const JsonPtr stored = core.store.get(key.bucket, key.item);
    if (stored == nullptr) continue;
    auto response = delete_stored(core, resource, key, *in_version(core, resource, stored), request.body, dry_run);
    if (!response.ok()) return {std::move(response), core.store.revision()};
  }
  return {std::move(list.response), core.store.revision()};
}

}  // namespace berth::apiserver
