#include "controller/object_upkeep.h"

#include <algorithm>
#include <utility>

#include "api/kueue/types.h"
#include "base/merge_patch.h"
#include "controller/queue_status.h"

namespace berth::controller {

ObjectUpkeep::ObjectUpkeep(Context context)
    : context_(std::move(context)),
      cluster_queues_(context_.executor, writer([this](const std::string& name) {
                        return status_write(context_.cluster_queues, name,
                                            context_.engine().cluster_queue_status(name));
                      }),
                      context_.status_delay, &context_.status_rate),
      local_queues_(context_.executor, writer([this](const std::string& key) { return local_queue_write(key); }),
                    context_.status_delay, &context_.status_rate),
      cohorts_(context_.executor, writer([this](const std::string& name) {
                 return status_write(context_.cohorts, name, context_.engine().cohort_status(name));
               }),
               context_.status_delay, &context_.status_rate),
      finalizers_(context_.executor, writer([this](const std::string& key) { return finalizer_write(key); })) {}

void ObjectUpkeep::take(const engine::SetFinalizer& effect) {
  if (!informer_of(effect.kind).get(effect.name)) return;  // the object is gone by now
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
    context_.writes.patch(wanted->target, wanted->subresource, std::move(wanted->body),
                          [finish, alive = alive_](const api::RestResponse& response) {
                            if (*alive) finish(response.ok() || response.code == 404);
                          });
  };
}

template <typename Status>
std::optional<ObjectUpkeep::Wanted> ObjectUpkeep::status_write(const kube::Informer& informer, const std::string& key,
                                                               const std::optional<Status>& status) const {
  const JsonPtr object = informer.get(key);
  if (!context_.leading() || !object || !status) return std::nullopt;
  const Json* present = berth::find(*object, "status");
  Json change = make_merge_patch(present ? *present : Json(JsonObject()),
                                 encode_status(*status, *object, context_.executor.now()));
  if (change.as_object().empty()) return std::nullopt;
  return Wanted{Target::of(informer.resource(), *object), "status", JsonObject{{"status", std::move(change)}}};
}

std::optional<ObjectUpkeep::Wanted> ObjectUpkeep::local_queue_write(const std::string& key) const {
  const auto slash = key.find('/');
  return status_write(context_.local_queues, key,
                      context_.engine().local_queue_status(key.substr(0, slash), key.substr(slash + 1)));
}

const kube::Informer& ObjectUpkeep::informer_of(const std::string& kind) const {
  if (kind == "ClusterQueue") return context_.cluster_queues;
  if (kind == "ResourceFlavor") return context_.flavors;
  return kind == "Topology" ? context_.topologies : context_.checks;
}

std::optional<ObjectUpkeep::Wanted> ObjectUpkeep::finalizer_write(const std::string& key) const {
  const auto wish = wanted_finalizers_.find(key);
  if (wish == wanted_finalizers_.end()) return std::nullopt;
  const auto slash = key.find('/');
  const kube::Informer& informer = informer_of(key.substr(0, slash));
  const JsonPtr object = informer.get(key.substr(slash + 1));
  if (!object) return std::nullopt;
  auto present = api::decode_meta(*object).finalizers;
  const auto it = std::find(present.begin(), present.end(), api::kueue::kFinalizer);
  const bool deleting = find_path(*object, {"metadata", "deletionTimestamp"}) != nullptr;
  if ((it != present.end()) == wish->second || (wish->second && deleting)) return std::nullopt;
  if (wish->second) {
    present.emplace_back(api::kueue::kFinalizer);
  } else {
    present.erase(it);
  }
  JsonArray list;
  for (const auto& finalizer : present) list.emplace_back(finalizer);
  return Wanted{Target::of(informer.resource(), *object), "",
                JsonObject{{"metadata", JsonObject{{"finalizers", std::move(list)}}}}};
}

}  // namespace berth::controller
