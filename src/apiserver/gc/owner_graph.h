// Who owns whom: objects by uid, with the edges that their owner references draw.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/storage/object_store.h"

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
  bool foreground = false;  // deleting, and held until the dependents that block it are gone
  bool orphaning = false;   // deleting, and held until the dependents have forgotten it
};

class OwnerGraph {
 public:
  // Takes over the object's present state.
  void put(const std::string& key, const Json& object);
  void remove(std::string_view uid);

  const OwnedObject* find(std::string_view uid) const;  // null when unknown
  // The object's owner by this reference: null when the uid is unknown or belongs to something else (another
  // kind or name, another namespace).
  const OwnedObject* owner(const OwnedObject& dependent, const OwnerEdge& edge) const;
  std::vector<std::string> dependents(std::string_view uid) const;  // uids, in order

 private:
  void unlink(const std::string& uid, const OwnedObject& object);

  std::map<std::string, OwnedObject, std::less<>> objects_;
  std::map<std::string, std::set<std::string>, std::less<>>
      dependents_;  // by the owner's uid, which may be unknown
};

}  // namespace berth::apiserver
