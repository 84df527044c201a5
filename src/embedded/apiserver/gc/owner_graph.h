// The ownership graph: objects by uid, with an edge for each owner reference.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "embedded/apiserver/storage/object_store.h"

namespace berth::apiserver {

struct OwnerEdge {
  std::string group, version, kind, name, uid;
  bool blocks = false;  // blockOwnerDeletion
  bool operator==(const OwnerEdge&) const = default;
};

struct OwnedObject {
  ObjectKey key;
  std::string group, kind, ns, name;
  std::vector<OwnerEdge> owners;
  bool deleting = false;
  bool foreground = false;  // deleting; kept until all dependents that block the deletion are gone
  bool orphaning = false;   // deleting; kept until all dependents have dropped their owner reference
};

class OwnerGraph {
 public:
  // Inserts the object or updates its state.
  void put(const std::string& key, const Json& object);
  void remove(std::string_view uid);

  const OwnedObject* find(std::string_view uid) const;  // null when unknown
  // The object's owner that the reference names; null when the uid is unknown or belongs to an object of another
  // kind, name or namespace.
  const OwnedObject* owner(const OwnedObject& dependent, const OwnerEdge& edge) const;
  std::vector<std::string> dependents(std::string_view uid) const;  // uids of the dependents, sorted

 private:
  void unlink(const std::string& uid, const OwnedObject& object);

  std::map<std::string, OwnedObject, std::less<>> objects_;
  std::map<std::string, std::set<std::string>, std::less<>>
      dependents_;  // by the owner's uid; the owner may be unknown
};

}  // namespace berth::apiserver
