#include "embedded/apiserver/gc/garbage_collector.h"

#include <algorithm>
#include <utility>

#include "embedded/apiserver/gc/find_resource.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/metadata.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kDefinitions = "apiextensions.k8s.io/customresourcedefinitions/";  // their keys
constexpr std::size_t kPerTurn = 256;  // objects per turn, so that requests are not delayed
constexpr Duration kPauseBetweenPasses = std::chrono::milliseconds(100);  // retry delay when the store was overloaded

}  // namespace

GarbageCollector::GarbageCollector(Core& core, Requests& requests)
    : core_(core), requests_(requests), turn_(core.executor, [this] { work(); }) {}

void GarbageCollector::load() {
  std::vector<std::string> uids;
  for (const std::string& bucket : core_.store.buckets()) {
    core_.store.scan(bucket, "", "", core_.store.revision(), [&](std::string_view item, const JsonPtr& object) {
      graph_.put(bucket + std::string(item), *object);
      uids.emplace_back(string_at(*object, {"metadata", "uid"}));
      return true;
    });
  }
  for (const std::string& uid : uids) enqueue(uid);
}

void GarbageCollector::on_change(const Change& change) {
  const std::string uid(string_at(*change.object, {"metadata", "uid"}));
  const OwnedObject* object = graph_.find(uid);
  const std::vector<OwnerEdge> owners = object == nullptr ? std::vector<OwnerEdge>{} : object->owners;
  if (change.type != Change::Type::kDeleted) {
    graph_.put(change.key, *change.object);
    enqueue(uid);
    if (change.key.starts_with(kDefinitions)) {
      for (const std::string& one : std::exchange(unresolved_, {})) enqueue(one);
    }
  } else {
    graph_.remove(uid);
    unresolved_.erase(uid);
    const auto dependents = graph_.dependents(uid);
    if (!dependents.empty()) seen_deleted_.insert(uid);
    for (const std::string& dependent : dependents) enqueue(dependent);
  }
  for (const OwnerEdge& edge : owners) {
    if (!seen_deleted_.empty() && graph_.dependents(edge.uid).empty()) seen_deleted_.erase(edge.uid);
    if (change.type != Change::Type::kDeleted) continue;
    if (const OwnedObject* owner = graph_.find(edge.uid); owner != nullptr && owner->foreground) enqueue(edge.uid);
  }
}

// Enqueues only objects that may need work: those with owners, and those that wait for their dependents.
void GarbageCollector::enqueue(const std::string& uid) {
  const OwnedObject* object = graph_.find(uid);
  if (object == nullptr || (object->owners.empty() && !object->foreground && !object->orphaning)) return;
  queue_.insert(uid);
  turn_.soon();
}

void GarbageCollector::work() {
  for (std::size_t n = 0; n < kPerTurn && !queue_.empty(); ++n) {
    const std::string uid = *queue_.begin();
    const OwnedObject* found = graph_.find(uid);
    if (found != nullptr) {
      const OwnedObject object = *found;
      if (settle(uid, object) == Outcome::kBusy) {
        turn_.later(kPauseBetweenPasses);
        return;
      }
    }
    queue_.erase(uid);
  }
  if (!queue_.empty()) turn_.soon();
}

GarbageCollector::Outcome GarbageCollector::settle(const std::string& uid, const OwnedObject& object) {
  if (object.orphaning) return settle_orphans(uid, object);
  if (object.foreground) return settle_foreground(uid, object);
  if (object.deleting) return Outcome::kDone;  // deletion is already in progress
  return settle_owned(uid, object);
}

GarbageCollector::Outcome GarbageCollector::settle_orphans(const std::string& uid, const OwnedObject& object) {
  for (const std::string& dependent : graph_.dependents(uid)) {
    const OwnedObject* found = graph_.find(dependent);
    if (found == nullptr) continue;
    const OwnedObject copy = *found;
    if (forget_owners(dependent, copy, {uid}) == Outcome::kBusy) return Outcome::kBusy;
  }
  return remove_own_finalizer(uid, object, kOrphanFinalizer);
}

GarbageCollector::Outcome GarbageCollector::settle_foreground(const std::string& uid, const OwnedObject& object) {
  bool blocked = false;
  for (const std::string& dependent : graph_.dependents(uid)) {
    const OwnedObject* found = graph_.find(dependent);
    if (found == nullptr) continue;
    enqueue(dependent);
    blocked |= std::ranges::any_of(found->owners, [&](const OwnerEdge& edge) {
      return edge.uid == uid && edge.blocks && graph_.owner(*found, edge) != nullptr;
    });
  }
  return blocked ? Outcome::kDone : remove_own_finalizer(uid, object, kForegroundFinalizer);
}

bool GarbageCollector::kind_is_served(const OwnerEdge& edge) const {
  return core_.registry.find_kind(edge.group, edge.version, edge.kind) != nullptr ||
         std::ranges::any_of(core_.registry.all(), [&](const ResourcePtr& resource) {
           return resource->gvr.group == edge.group && resource->kind == edge.kind;
         });
}

// An owner whose kind is not served here is assumed to exist, unless its deletion was seen: a kind goes together with
// its objects.
GarbageCollector::Outcome GarbageCollector::settle_owned(const std::string& uid, const OwnedObject& object) {
  // Uids of owners that do not exist; uids of owners that wait for this object to be deleted.
  std::set<std::string> gone, waiting;
  bool held = false;
  for (const OwnerEdge& edge : object.owners) {
    const OwnedObject* owner = graph_.owner(object, edge);
    const bool known = seen_deleted_.contains(edge.uid) || kind_is_served(edge);
    if (owner == nullptr && !known) unresolved_.insert(uid);
    if (owner == nullptr && known) {
      gone.insert(edge.uid);
    } else if (owner != nullptr && owner->foreground && edge.blocks) {
      waiting.insert(edge.uid);
    } else {
      held = true;
    }
  }
  if (held) {
    gone.merge(waiting);
    return gone.empty() ? Outcome::kDone : forget_owners(uid, object, gone);
  }
  if (gone.empty() && waiting.empty()) return Outcome::kDone;
  if (!waiting.empty() && !graph_.dependents(uid).empty()) {
    // Objects that own each other and wait for each other would wait forever: break the cycle.
    const auto dependents = graph_.dependents(uid);
    const bool cycle =
        std::ranges::any_of(dependents, [&](const std::string& dependent) { return waiting.contains(dependent); });
    return remove(uid, object, cycle ? "Background" : "Foreground");
  }
  return remove(uid, object, "Background");
}

GarbageCollector::Outcome GarbageCollector::remove_own_finalizer(const std::string& uid, const OwnedObject& object,
                                                                 std::string_view finalizer) {
  const JsonPtr stored = core_.store.get(object.key.bucket, object.key.item);
  if (stored == nullptr || string_at(*stored, {"metadata", "uid"}) != uid) return Outcome::kDone;
  Json changed = *stored;
  if (!remove_finalizer(changed, finalizer)) return Outcome::kDone;
  return write(object, changed);
}

GarbageCollector::Outcome GarbageCollector::forget_owners(const std::string& uid, const OwnedObject& object,
                                                          const std::set<std::string>& owners) {
  const JsonPtr stored = core_.store.get(object.key.bucket, object.key.item);
  if (stored == nullptr || string_at(*stored, {"metadata", "uid"}) != uid) return Outcome::kDone;
  JsonArray rest;
  for (const Json& reference : array_at(*stored, {"metadata", "ownerReferences"})) {
    if (!owners.contains(std::string(string_at(reference, {"uid"})))) rest.push_back(reference);
  }
  if (rest.size() == array_at(*stored, {"metadata", "ownerReferences"}).size()) return Outcome::kDone;
  Json changed = *stored;
  if (rest.empty()) {
    erase_path(changed, {"metadata", "ownerReferences"});
  } else {
    ensure_path(changed, {"metadata", "ownerReferences"}) = std::move(rest);
  }
  return write(object, changed);
}

// Changes metadata with an ordinary update, so that removing the last finalizer also removes the object.
GarbageCollector::Outcome GarbageCollector::write(const OwnedObject& object, const Json& changed) {
  const ResourcePtr resource = find_resource(core_.registry, object.key.bucket);
  if (resource == nullptr) return Outcome::kDone;
  api::RestRequest request;
  request.verb = api::Verb::kUpdate;
  request.resource = resource->gvr;
  request.ns = object.ns;
  request.name = object.name;
  request.field_manager = "kube-controller-manager";
  request.body = *in_version(core_, *resource, std::make_shared<const Json>(changed));
  return is_busy(requests_.handle(request).response) ? Outcome::kBusy : Outcome::kDone;
}

GarbageCollector::Outcome GarbageCollector::remove(const std::string& uid, const OwnedObject& object,
                                                   std::string_view policy) {
  const ResourcePtr resource = find_resource(core_.registry, object.key.bucket);
  if (resource == nullptr) return Outcome::kDone;
  const JsonPtr stored = core_.store.get(object.key.bucket, object.key.item);
  if (stored == nullptr) return Outcome::kDone;
  // The object's own finalizers take precedence over the policy from its owner.
  if (has_finalizer(*stored, kOrphanFinalizer)) policy = "Orphan";
  if (has_finalizer(*stored, kForegroundFinalizer)) policy = "Foreground";
  api::RestRequest request;
  request.verb = api::Verb::kDelete;
  request.resource = resource->gvr;
  request.ns = object.ns;
  request.name = object.name;
  request.body = JsonObject{{"propagationPolicy", policy}, {"preconditions", JsonObject{{"uid", uid}}}};
  return is_busy(requests_.handle(request).response) ? Outcome::kBusy : Outcome::kDone;
}

}  // namespace berth::apiserver
