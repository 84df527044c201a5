#include "controller/object_upkeep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "api/resources.h"
#include "base/merge_patch.h"
#include "controller/queue_status.h"

namespace berth::controller {
namespace {

const api::GroupVersionResource& resource_of(const std::string& kind) {
  if (kind == "ClusterQueue") return api::kClusterQueues;
  if (kind == "ResourceFlavor") return api::kResourceFlavors;
  return kind == "Topology" ? api::kTopologies : api::kAdmissionChecks;
}

}  // namespace

ObjectUpkeep::ObjectUpkeep(Shell& shell, const Cluster& cluster)
    : shell_(shell),
      cluster_(cluster),
      cluster_queues_(shell.executor, writer([this](const std::string& name) {
                        return status_write(cluster_.cluster_queues.informer(), name,
                                            shell_.engine().cluster_queue_status(name));
                      }),
                      shell.options.queue_status_delay, &shell.queue_status_rate),
      local_queues_(shell.executor, writer([this](const std::string& key) { return local_queue_write(key); }),
                    shell.options.queue_status_delay, &shell.queue_status_rate),
      cohorts_(shell.executor, writer([this](const std::string& name) {
                 return status_write(cluster_.cohorts.informer(), name, shell_.engine().cohort_status(name));
               }),
               shell.options.queue_status_delay, &shell.queue_status_rate),
      finalizers_(shell.executor, writer([this](const std::string& key) { return finalizer_write(key); })) {}

void ObjectUpkeep::take(const engine::SetFinalizer& effect) {
  if (meta_of(effect.kind, effect.name) == nullptr) return;  // the object is gone by now
  wanted_finalizers_[effect.kind + "/" + effect.name] = effect.present;
  object_changed(effect.kind, effect.name, false);
}

void ObjectUpkeep::object_changed(const std::string& kind, const std::string& name, bool gone) {
  if (gone) wanted_finalizers_.erase(kind + "/" + name);
  finalizers_.add(kind + "/" + name);
}

// Writes what differs from the cache.
WorkQueue::Work ObjectUpkeep::writer(Wish wish) {
  return [this, wish = std::move(wish)](const std::string& key, WorkQueue::Finish finish) {
    auto wanted = wish(key);
    if (!wanted) return finish(true);
    shell_.writes.patch(wanted->target, wanted->subresource, std::move(wanted->body),
                        lifetime_.guard([finish](const api::RestResponse& response) {
                          finish(response.ok() || response.code == 404);
                        }));
  };
}

template <typename Status>
std::optional<ObjectUpkeep::Wanted> ObjectUpkeep::status_write(const kube::Informer& informer, const std::string& key,
                                                               const std::optional<Status>& status) const {
  const JsonPtr object = informer.get(key);
  if (!shell_.leading() || !object || !status) return std::nullopt;
  const Json* present = berth::find(*object, "status");
  Json change =
      make_merge_patch(present ? *present : Json(JsonObject()), encode_status(*status, *object, shell_.executor.now()));
  if (change.as_object().empty()) return std::nullopt;
  return Wanted{Target::of(informer.resource(), *object), "status", JsonObject{{"status", std::move(change)}}};
}

std::optional<ObjectUpkeep::Wanted> ObjectUpkeep::local_queue_write(const std::string& key) const {
  const auto slash = key.find('/');
  return status_write(cluster_.local_queues.informer(), key,
                      shell_.engine().local_queue_status(key.substr(0, slash), key.substr(slash + 1)));
}

const api::ObjectMeta* ObjectUpkeep::meta_of(const std::string& kind, std::string_view name) const {
  const auto in = [name](const auto& cache) -> const api::ObjectMeta* {
    const auto object = cache.get(name);
    return object ? &object->meta : nullptr;  // the cache holds it, too
  };
  if (kind == "ClusterQueue") return in(cluster_.cluster_queues);
  if (kind == "ResourceFlavor") return in(cluster_.flavors);
  return kind == "Topology" ? in(cluster_.topologies) : in(cluster_.checks);
}

std::optional<ObjectUpkeep::Wanted> ObjectUpkeep::finalizer_write(const std::string& key) const {
  const auto wish = wanted_finalizers_.find(key);
  if (wish == wanted_finalizers_.end()) return std::nullopt;
  const auto slash = key.find('/');
  const std::string kind = key.substr(0, slash);
  const api::ObjectMeta* meta = meta_of(kind, key.substr(slash + 1));
  if (meta == nullptr) return std::nullopt;
  std::vector<std::string> present = meta->finalizers;
  const auto it = std::find(present.begin(), present.end(), api::kueue::kFinalizer);
  if ((it != present.end()) == wish->second || (wish->second && meta->deletion)) return std::nullopt;
  if (wish->second) {
    present.emplace_back(api::kueue::kFinalizer);
  } else {
    present.erase(it);
  }
  JsonArray list;
  for (const auto& finalizer : present) list.emplace_back(finalizer);
  return Wanted{Target::of(resource_of(kind), *meta), "",
                JsonObject{{"metadata", JsonObject{{"finalizers", std::move(list)}}}}};
}

}  // namespace berth::controller
