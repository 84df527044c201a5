#include "embedded/apiserver/requests/core.h"

#include <utility>

#include "base/log.h"
#include "embedded/apiserver/builtin/event_conversion.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/watches.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {

namespace {

// Events of both groups are stored in core/v1 form.
bool is_second_events_group(const ResourceInfo& resource) {
  return resource.gvr.group == "events.k8s.io" && resource.gvr.resource == "events";
}

}  // namespace

Core::Core(Executor& e, std::unique_ptr<Log> log, const ApiServerOptions& o)
    : executor(e),
      options(o),
      store(e, std::move(log), StoreOptions{o.history, StoreOptions{}.backlog}),
      names(o.seed),
      freshness(e),
      watches(std::make_unique<Watches>(*this)) {
  lookup.get = [this](const api::GroupVersionResource& gvr, std::string_view ns, std::string_view name) -> JsonPtr {
    const ResourcePtr resource = registry.find(gvr);
    if (resource == nullptr) return nullptr;
    const ObjectKey key = key_of(*resource, ns, name);
    const JsonPtr stored = store.get(key.bucket, key.item);
    return stored == nullptr ? nullptr : in_version(*this, *resource, stored);
  };
  lookup.list = [this](const api::GroupVersionResource& gvr, std::string_view ns) {
    std::vector<JsonPtr> found;
    const ResourcePtr resource = registry.find(gvr);
    if (resource == nullptr) return found;
    const std::string prefix = ns.empty() ? std::string() : std::string(ns) + "/";
    store.scan(bucket_of(*resource), prefix, "", store.revision(), [&](std::string_view, const JsonPtr& object) {
      found.push_back(in_version(*this, *resource, object));
      return true;
    });
    return found;
  };
}

Core::~Core() = default;

std::string bucket_of(const ResourceInfo& resource) {
  return bucket_of(is_second_events_group(resource) ? std::string_view{} : std::string_view(resource.gvr.group),
                   resource.gvr.resource);
}

ObjectKey key_of(const ResourceInfo& resource, std::string_view ns, std::string_view name) {
  return key_of(bucket_of(resource), resource.namespaced ? ns : std::string_view{}, name);
}

std::string api_version_of(const ResourceInfo& resource) {
  return resource.gvr.group.empty() ? resource.gvr.version : resource.gvr.group + "/" + resource.gvr.version;
}

namespace {

// An object that cannot be converted is shown unconverted: it was valid in some version once, and a user must be able
// to repair it.
void show_in_version(const ResourceInfo& resource, Json& object, const std::string& version) {
  if (resource.strategy.convert) {
    const auto done = resource.strategy.convert(object, version);
    if (!done) log::error("conversion failed", {{"why", done.error().message}});
  }
  object.as_object()["apiVersion"] = resource.gvr.group.empty() ? version : resource.gvr.group + "/" + version;
}

}  // namespace

JsonPtr in_version(const Core& core, const ResourceInfo& resource, const JsonPtr& stored) {
  if (is_second_events_group(resource)) return std::make_shared<const Json>(to_events_event(*stored));
  const bool other_version = string_at(*stored, {"apiVersion"}) != api_version_of(resource);
  const bool lacks_defaults = resource.custom && core.is_older_than_schema(resource, *stored);
  if (!other_version && !lacks_defaults) return stored;
  Json converted = *stored;
  if (other_version) show_in_version(resource, converted, resource.gvr.version);
  const bool was_converted = other_version && resource.strategy.convert != nullptr;
  if ((lacks_defaults || was_converted) && resource.schema != nullptr) apply_defaults(converted, *resource.schema);
  return std::make_shared<const Json>(std::move(converted));
}

bool Core::is_older_than_schema(const ResourceInfo& resource, const Json& object) const {
  if (schema_changes.empty()) return false;
  const auto changed = schema_changes.find({resource.gvr.group, resource.gvr.resource});
  return changed != schema_changes.end() && parse_revision(resource_version_of(object)).value_or(0) < changed->second;
}

Json to_stored(const ResourceInfo& resource, Json object) {
  if (is_second_events_group(resource)) return to_core_event(object);
  if (!resource.storage_version.empty() && resource.storage_version != resource.gvr.version)
    show_in_version(resource, object, resource.storage_version);
  return object;
}

std::string_view resource_version_of(const Json& object) { return string_at(object, {"metadata", "resourceVersion"}); }

}  // namespace berth::apiserver
