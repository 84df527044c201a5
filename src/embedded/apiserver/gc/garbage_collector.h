// Deletes objects whose owners are gone, and carries out foreground and orphan deletions.
// https://kubernetes.io/docs/concepts/architecture/garbage-collection/
#pragma once

#include <set>
#include <string>

#include "embedded/apiserver/gc/owner_graph.h"
#include "embedded/apiserver/gc/turn.h"
#include "embedded/apiserver/requests/requests.h"

namespace berth::apiserver {

class GarbageCollector {
 public:
  GarbageCollector(Core& core, Requests& requests);

  void load();  // loads the objects that exist at startup
  void on_change(const Change& change);

 private:
  enum class Outcome { kDone, kBusy };

  void enqueue(const std::string& uid);
  void work();
  Outcome settle(const std::string& uid, const OwnedObject& object);
  Outcome settle_foreground(const std::string& uid, const OwnedObject& object);
  Outcome settle_orphans(const std::string& uid, const OwnedObject& object);
  Outcome settle_owned(const std::string& uid, const OwnedObject& object);
  bool kind_is_served(const OwnerEdge& edge) const;

  Outcome remove_own_finalizer(const std::string& uid, const OwnedObject& object, std::string_view finalizer);
  Outcome forget_owners(const std::string& uid, const OwnedObject& object, const std::set<std::string>& owners);
  Outcome remove(const std::string& uid, const OwnedObject& object, std::string_view policy);
  Outcome write(const OwnedObject& object, const Json& changed);

  Core& core_;
  Requests& requests_;
  OwnerGraph graph_;
  std::set<std::string> queue_;  // uids to check, each once
  // Uids of owners that were deleted while they had dependents, as long as one of those names them.
  std::set<std::string> seen_deleted_;
  // Uids of objects with an owner of a kind that is not served: looked at again when a definition changes.
  std::set<std::string> unresolved_;
  Turn turn_;
};

}  // namespace berth::apiserver
