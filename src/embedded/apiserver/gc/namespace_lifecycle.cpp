#include "embedded/apiserver/gc/namespace_lifecycle.h"

#include <array>
#include <utility>

#include "embedded/apiserver/gc/find_resource.h"
#include "embedded/apiserver/requests/metadata.h"

namespace berth::apiserver {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(100);  // retry delay when the store was overloaded
constexpr std::string_view kFinalizer = "kubernetes";
const std::string kBucket = bucket_of("", "namespaces");

// "Some resources are remaining: pods. has 2 resource instances, jobs.batch has 1 resource instances"
std::string remaining(const std::map<std::string, std::size_t>& objects) {
  std::string text;
  for (const auto& [resource, count] : objects) {
    text += (text.empty() ? "" : ", ") + resource + " has " + std::to_string(count) + " resource instances";
  }
  return "Some resources are remaining: " + text;
}

std::string waiting_for(const std::map<std::string, std::size_t>& finalizers) {
  std::string text;
  for (const auto& [name, count] : finalizers) {
    text += (text.empty() ? "" : ", ") + name + " in " + std::to_string(count) + " resource instances";
  }
  return "Some content in the namespace has finalizers remaining: " + text;
}

struct Condition {
  std::string_view type;
  bool status;
  std::string_view reason;
  std::string message;
};

// Keeps lastTransitionTime when the status does not change.
void set_condition(Json& object, const Condition& condition, Time now) {
  Json& conditions = ensure_path(object, {"status", "conditions"});
  if (!conditions.is_array()) conditions = JsonArray{};
  const std::string_view status = condition.status ? "True" : "False";
  for (Json& present : conditions.get_array()) {
    if (string_at(present, {"type"}) != condition.type) continue;
    const bool flipped = string_at(present, {"status"}) != status;
    JsonObject& members = present.as_object();
    members["status"] = status;
    members["reason"] = condition.reason;
    members["message"] = condition.message;
    if (flipped) members["lastTransitionTime"] = format_time(now);
    return;
  }
  conditions.get_array().push_back(JsonObject{{"type", condition.type},
                                              {"status", status},
                                              {"lastTransitionTime", format_time(now)},
                                              {"reason", condition.reason},
                                              {"message", condition.message}});
}

}  // namespace

NamespaceLifecycle::NamespaceLifecycle(Core& core, Requests& requests)
    : core_(core), requests_(requests), turn_(core.executor, [this] { work(); }) {}

void NamespaceLifecycle::load() {
  core_.store.scan(kBucket, "", "", core_.store.revision(), [&](std::string_view item, const JsonPtr& object) {
    if (is_deleting(*object)) terminating_.emplace(item.substr(1));
    return true;
  });
  queue_ = terminating_;
  if (!queue_.empty()) turn_.soon();
}

void NamespaceLifecycle::on_change(const Change& change) {
  if (change.key.starts_with(kBucket)) {
    const std::string name = change.key.substr(kBucket.size() + 1);
    if (change.type == Change::Type::kDeleted) {
      terminating_.erase(name);
      queue_.erase(name);
    } else if (is_deleting(*change.object)) {
      terminating_.insert(name);
      queue_.insert(name);
      turn_.soon();
    }
    return;
  }
  if (terminating_.empty()) return;
  const std::string ns(string_at(*change.object, {"metadata", "namespace"}));
  if (!terminating_.contains(ns)) return;
  queue_.insert(ns);
  turn_.soon();
}

void NamespaceLifecycle::work() {
  while (!queue_.empty()) {
    const std::string name = *queue_.begin();
    if (!settle(name)) {
      turn_.later(kPause);
      return;
    }
    queue_.erase(name);
  }
}

bool NamespaceLifecycle::settle(const std::string& name) {
  const JsonPtr object = core_.store.get(kBucket, "/" + name);
  if (object == nullptr || !is_deleting(*object)) return true;
  const Content content = remove_content(name);
  if (content.busy) return false;
  if (!content.objects.empty()) return report(*object, content);
  return finalize(*object);
}

// Deletes objects that are not being deleted yet, and counts those that remain.
NamespaceLifecycle::Content NamespaceLifecycle::remove_content(const std::string& ns) {
  Content content;
  for (const std::string& bucket : core_.store.buckets()) {
    std::vector<JsonPtr> objects;
    core_.store.scan(bucket, ns + "/", "", core_.store.revision(), [&](std::string_view, const JsonPtr& object) {
      objects.push_back(object);
      return true;
    });
    const ResourcePtr resource = objects.empty() ? nullptr : find_resource(core_.registry, bucket);
    if (resource == nullptr) continue;
    for (const JsonPtr& object : objects) {
      const std::string name(string_at(*object, {"metadata", "name"}));
      if (!is_deleting(*object)) {
        if (core_.store.busy()) {
          content.busy = true;
          return content;
        }
        api::RestRequest request;
        request.verb = api::Verb::kDelete;
        request.resource = resource->gvr;
        request.ns = ns;
        request.name = name;
        request.body = JsonObject{{"propagationPolicy", "Background"}};
        static_cast<void>(requests_.handle(request));
      }
      const ObjectKey key = key_of(bucket, ns, name);
      const JsonPtr left = core_.store.get(key.bucket, key.item);
      if (left == nullptr) continue;
      ++content.objects[resource->gvr.resource + "." + resource->gvr.group];
      for (const Json& finalizer : array_at(*left, {"metadata", "finalizers"})) {
        if (finalizer.is_string()) ++content.finalizers[std::string(view(finalizer.get_string()))];
      }
    }
  }
  return content;
}

// Removes the server's own finalizer from spec.finalizers. metadata.finalizers may still keep the empty namespace.
bool NamespaceLifecycle::finalize(const Json& object) {
  const ObjectKey key = key_of(kBucket, "", string_at(object, {"metadata", "name"}));
  JsonArray rest;
  for (const Json& finalizer : array_at(object, {"spec", "finalizers"})) {
    if (!finalizer.is_string() || view(finalizer.get_string()) != kFinalizer) rest.push_back(finalizer);
  }
  if (rest.empty() && array_at(object, {"metadata", "finalizers"}).empty()) {
    const auto removed = core_.store.remove(key, core_.store.revision_of(key.bucket, key.item));
    return removed.has_value() || !passes(removed.error());
  }
  Json next = object;
  if (rest.empty()) {
    erase_path(next, {"spec", "finalizers"});
  } else {
    ensure_path(next, {"spec", "finalizers"}) = std::move(rest);
  }
  describe(next, {});
  return write(object, std::move(next));
}

bool NamespaceLifecycle::report(const Json& object, const Content& content) {
  Json next = object;
  describe(next, content);
  return write(object, std::move(next));
}

void NamespaceLifecycle::describe(Json& object, const Content& content) const {
  const bool objects = !content.objects.empty();
  const bool finalizers = !content.finalizers.empty();
  const std::array<Condition, 5> conditions{{
      {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure", false, "ContentDeleted",
       "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining", objects, objects ? "SomeResourcesRemain" : "ContentRemoved",
       objects ? remaining(content.objects) : "All content successfully removed"},
      {"NamespaceFinalizersRemaining", finalizers, finalizers ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
       finalizers ? waiting_for(content.finalizers) : "All content-preserving finalizers finished"},
  }};
  for (const Condition& condition : conditions) set_condition(object, condition, core_.executor.now());
}

bool NamespaceLifecycle::write(const Json& object, Json next) {
  if (json_equal(next, object)) return true;
  const ObjectKey key = key_of(kBucket, "", string_at(object, {"metadata", "name"}));
  const auto written = core_.store.put(key, std::move(next), core_.store.revision_of(key.bucket, key.item));
  return written.has_value() || !passes(written.error());
}

}  // namespace berth::apiserver
