#include "embedded/apiserver/requests/crds.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/meta.h"
#include "api/object_condition.h"
#include "base/log.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/requests/reset_fields.h"
#include "embedded/apiserver/requests/watches.h"

namespace berth::apiserver {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(100);  // when the store was overloaded
const std::vector<std::string> kTerminatingVerbs{"delete", "deletecollection", "get",  "list",
                                                 "patch",  "update",           "watch"};

const api::GroupVersionResource& crd_gvr() {
  static const api::GroupVersionResource gvr{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  return gvr;
}

void set_condition(Json& crd, std::string_view type, bool status, std::string_view reason, std::string_view message,
                   Time now) {
  Json& conditions = ensure_path(crd, {"status", "conditions"});
  if (!conditions.is_array()) conditions = JsonArray{};
  const Json condition = JsonObject{{"type", type},
                                    {"status", status ? "True" : "False"},
                                    {"lastTransitionTime", format_time(now)},
                                    {"reason", reason},
                                    {"message", message}};
  for (Json& present : conditions.get_array()) {
    if (string_at(present, {"type"}) == type) {
      present = condition;
      return;
    }
  }
  conditions.get_array().push_back(condition);
}

// Whether the status already reflects the names in the spec.
bool is_established(const Json& crd) {
  const Json* accepted = find_path(crd, {"status", "acceptedNames"});
  return api::object_condition_is_true(crd, "Established") && accepted != nullptr &&
         string_at(*accepted, {"plural"}) == string_at(crd, {"spec", "names", "plural"}) &&
         string_at(*accepted, {"kind"}) == string_at(crd, {"spec", "names", "kind"}) &&
         json_equal(JsonArray(array_at(*accepted, {"shortNames"})),
                    JsonArray(array_at(crd, {"spec", "names", "shortNames"})));
}

std::string deprecation_of(const Json& crd, const Json& version) {
  if (!bool_at(version, {"deprecated"})) return {};
  const std::string_view own = string_at(version, {"deprecationWarning"});
  if (!own.empty()) return std::string(own);
  return std::string(string_at(crd, {"spec", "group"})) + "/" + std::string(string_at(version, {"name"})) + " " +
         std::string(string_at(crd, {"spec", "names", "kind"})) + " is deprecated";
}

}  // namespace

bool is_crd(const ResourceInfo& resource) {
  return resource.gvr.group == crd_gvr().group && resource.gvr.resource == crd_gvr().resource;
}

void prepare_crd_deletion(Json& crd, Time now) {
  if (is_deleting(crd)) return;
  add_finalizer(crd, kCrdCleanupFinalizer);
  set_condition(crd, "Terminating", true, "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon", now);
}

Result<void> Crds::load() {
  std::vector<JsonPtr> crds;
  core_.store.scan(bucket_of(crd_gvr().group, crd_gvr().resource), "", "", core_.store.revision(),
                   [&](std::string_view, const JsonPtr& crd) {
                     crds.push_back(crd);
                     return true;
                   });
  for (const JsonPtr& crd : crds) {
    if (auto served = serve(*crd); !served) return served;
    const std::string name(string_at(*crd, {"metadata", "name"}));
    core_.executor.post(lifetime_.guard([this, name] { on_written(name); }));
  }
  return {};
}

void Crds::on_written(const std::string& name) {
  const ObjectKey key = key_of(bucket_of(crd_gvr().group, crd_gvr().resource), "", name);
  const JsonPtr crd = core_.store.get(key.bucket, key.item);
  if (crd == nullptr) return;
  if (auto served = serve(*crd); !served) {
    log::error("a CustomResourceDefinition cannot be served", {{"name", name}, {"error", served.error().message}});
    return;
  }
  if (is_deleting(*crd)) {
    clean_up(*crd);
  } else if (!is_established(*crd)) {
    establish(*crd);
  }
}

void Crds::on_removed(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::size_t end = key.find('/', slash + 1);
  const std::string_view bucket = key.substr(0, end + 1);
  const std::string name =
      std::string(key.substr(slash + 1, end - slash - 1)) + "." + std::string(key.substr(0, slash));
  const JsonPtr crd = core_.store.get(bucket_of(crd_gvr().group, crd_gvr().resource), "/" + name);
  if (crd == nullptr || !is_deleting(*crd) || core_.store.count(bucket) > 0) return;
  clean_up(*crd);
}

void Crds::later(const std::string& name) {
  core_.executor.after(kRetry, lifetime_.guard([this, name] { on_written(name); }));
}

void Crds::establish(const Json& crd) {
  const std::string name(string_at(crd, {"metadata", "name"}));
  const ObjectKey key = key_of(bucket_of(crd_gvr().group, crd_gvr().resource), "", name);
  Json established = crd;
  established.as_object()["status"] = established_status(crd, core_.executor.now());
  const ResourcePtr resource = crd_resource();
  if (resource->schema != nullptr) {
    track_update(crd, established, *resource->schema,
                 {"kube-apiserver", api_version_of(*resource), "status", core_.executor.now()},
                 reset_fields(*resource, "status"));
  }
  const auto written = core_.store.put(key, std::move(established), core_.store.revision_of(key.bucket, key.item));
  if (!written && passes(written.error())) later(name);
}

Result<void> Crds::serve(const Json& crd) {
  auto resources = resources_of_crd(crd);
  if (!resources) return tl::unexpected(resources.error());
  const std::string group(string_at(crd, {"spec", "group"}));
  const std::string plural(string_at(crd, {"spec", "names", "plural"}));
  if (int_at(crd, {"metadata", "generation"}) > 1) {
    core_.schema_changes[{group, plural}] = parse_revision(resource_version_of(crd)).value_or(0);
  }
  std::set<api::GroupVersionResource> served;
  for (ResourcePtr& resource : *resources) {
    served.insert(resource->gvr);
    if (is_deleting(crd)) {
      auto terminating = std::make_shared<ResourceInfo>(*resource);
      terminating->verbs = kTerminatingVerbs;
      resource = std::move(terminating);
    }
    core_.registry.add(resource);
  }
  for (const ResourcePtr& resource : core_.registry.all()) {
    if (resource->gvr.group == group && resource->gvr.resource == plural && !served.contains(resource->gvr)) {
      core_.registry.remove(resource->gvr);
      core_.deprecations.erase(resource->gvr);
      core_.watches->end_all(resource->gvr);
    }
  }
  for (const Json& version : array_at(crd, {"spec", "versions"})) {
    const api::GroupVersionResource gvr{group, std::string(string_at(version, {"name"})), plural};
    const std::string warning = deprecation_of(crd, version);
    if (warning.empty()) {
      core_.deprecations.erase(gvr);
    } else {
      core_.deprecations[gvr] = warning;
    }
  }
  return {};
}

void Crds::stop_serving(const Json& crd) {
  core_.schema_changes.erase(
      {std::string(string_at(crd, {"spec", "group"})), std::string(string_at(crd, {"spec", "names", "plural"}))});
  for (const ResourcePtr& resource : core_.registry.all()) {
    if (resource->gvr.group != string_at(crd, {"spec", "group"}) ||
        resource->gvr.resource != string_at(crd, {"spec", "names", "plural"})) {
      continue;
    }
    core_.registry.remove(resource->gvr);
    core_.deprecations.erase(resource->gvr);
    end_watches(resource->gvr);
  }
}

// Watches get the event of a change when it is durable, so they end after the event of the last deletion.
void Crds::end_watches(const api::GroupVersionResource& gvr) {
  const Revision now = core_.store.revision();
  if (core_.store.durable() >= now) return core_.watches->end_all(gvr);
  core_.freshness.wait(now, lifetime_.guard([this, gvr](bool) { core_.watches->end_all(gvr); }));
}

// Deletes the objects, and then the CRD when none is left. Objects with finalizers keep the CRD until they are gone.
void Crds::clean_up(const Json& crd) {
  const std::string name(string_at(crd, {"metadata", "name"}));
  const std::string group(string_at(crd, {"spec", "group"}));
  const std::string plural(string_at(crd, {"spec", "names", "plural"}));
  const std::string bucket = bucket_of(group, plural);
  std::vector<JsonPtr> objects;
  core_.store.scan(bucket, "", "", core_.store.revision(), [&](std::string_view, const JsonPtr& object) {
    if (!is_deleting(*object)) objects.push_back(object);
    return true;
  });
  for (const JsonPtr& object : objects) {
    if (core_.store.busy()) return later(name);
    delete_instance(group, plural, *object);
  }
  if (core_.store.count(bucket) > 0) return;

  const ObjectKey key = key_of(bucket_of(crd_gvr().group, crd_gvr().resource), "", name);
  const JsonPtr stored = core_.store.get(key.bucket, key.item);
  if (stored == nullptr) return;
  Json last = *stored;
  remove_finalizer(last, kCrdCleanupFinalizer);
  const Revision revision = core_.store.revision_of(key.bucket, key.item);
  if (!array_at(last, {"metadata", "finalizers"}).empty()) {
    const auto written = core_.store.put(key, std::move(last), revision);
    if (!written && passes(written.error())) later(name);
    return;
  }
  const auto removed = core_.store.remove(key, revision);
  if (removed) {
    stop_serving(crd);
  } else if (passes(removed.error())) {
    later(name);
  }
}

void Crds::delete_instance(const std::string& group, const std::string& plural, const Json& object) {
  for (const ResourcePtr& resource : core_.registry.all()) {
    if (resource->gvr.group != group || resource->gvr.resource != plural) continue;
    api::RestRequest request;
    request.verb = api::Verb::kDelete;
    request.resource = resource->gvr;
    request.ns = string_at(object, {"metadata", "namespace"});
    request.name = string_at(object, {"metadata", "name"});
    request.body = JsonObject{{"propagationPolicy", "Background"}};
    ResourceInfo unasked = *resource;  // no deletion admission for objects that are deleted with their CRD
    unasked.strategy.deletion_admission = {};
    static_cast<void>(delete_object(core_, unasked, request));
    return;
  }
}

}  // namespace berth::apiserver
