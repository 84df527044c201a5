#include "embedded/apiserver/gc/owner_graph.h"

#include <utility>

#include "embedded/apiserver/requests/metadata.h"

namespace berth::apiserver {
namespace {

// "batch/v1" -> {"batch", "v1"}; "v1" -> {"", "v1"}
std::pair<std::string, std::string> split_api_version(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

OwnedObject describe(const std::string& key, const Json& object) {
  OwnedObject described;
  described.key = *parse_key(key);
  described.group = described.key.bucket.substr(0, described.key.bucket.find('/'));
  described.kind = string_at(object, {"kind"});
  described.ns = string_at(object, {"metadata", "namespace"});
  described.name = string_at(object, {"metadata", "name"});
  described.deleting = is_deleting(object);
  described.foreground = described.deleting && has_finalizer(object, kForegroundFinalizer);
  described.orphaning = described.deleting && has_finalizer(object, kOrphanFinalizer);
  for (const Json& reference : array_at(object, {"metadata", "ownerReferences"})) {
    auto [group, version] = split_api_version(string_at(reference, {"apiVersion"}));
    described.owners.push_back({std::move(group), std::move(version), std::string(string_at(reference, {"kind"})),
                                std::string(string_at(reference, {"name"})), std::string(string_at(reference, {"uid"})),
                                bool_at(reference, {"blockOwnerDeletion"})});
  }
  return described;
}

}  // namespace

void OwnerGraph::put(const std::string& key, const Json& object) {
  const std::string uid(string_at(object, {"metadata", "uid"}));
  if (const auto it = objects_.find(uid); it != objects_.end()) unlink(uid, it->second);
  OwnedObject described = describe(key, object);
  for (const OwnerEdge& edge : described.owners) dependents_[edge.uid].insert(uid);
  objects_[uid] = std::move(described);
}

void OwnerGraph::remove(std::string_view uid) {
  const auto it = objects_.find(uid);
  if (it == objects_.end()) return;
  unlink(it->first, it->second);
  objects_.erase(it);
}

void OwnerGraph::unlink(const std::string& uid, const OwnedObject& object) {
  for (const OwnerEdge& edge : object.owners) {
    const auto it = dependents_.find(edge.uid);
    if (it == dependents_.end()) continue;
    it->second.erase(uid);
    if (it->second.empty()) dependents_.erase(it);
  }
}

const OwnedObject* OwnerGraph::find(std::string_view uid) const {
  const auto it = objects_.find(uid);
  return it == objects_.end() ? nullptr : &it->second;
}

const OwnedObject* OwnerGraph::owner(const OwnedObject& dependent, const OwnerEdge& edge) const {
  const OwnedObject* found = find(edge.uid);
  if (found == nullptr || found->group != edge.group || found->kind != edge.kind || found->name != edge.name)
    return nullptr;
  return found->ns.empty() || found->ns == dependent.ns ? found : nullptr;
}

std::vector<std::string> OwnerGraph::dependents(std::string_view uid) const {
  const auto it = dependents_.find(uid);
  if (it == dependents_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

}  // namespace berth::apiserver
