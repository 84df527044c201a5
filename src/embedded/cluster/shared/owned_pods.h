// The pods that a controller's jobs own, as the informer and the controller's own writes show them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "embedded/cluster/shared/own_writes.h"

namespace berth::cluster {

class OwnedPods {
 public:
  // Returns the owner reference of the job that controls a pod; null when no job of this controller does.
  using OwnerOf = const Json* (*)(const Json& pod);
  OwnedPods(OwnerOf owner_of, OwnWrites& pods) : owner_of_(owner_of), pods_(pods) {}

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  // The pods of an owner by its UID, ordered by key.
  std::vector<JsonPtr> of(std::string_view uid);

 private:
  OwnerOf owner_of_;
  OwnWrites& pods_;
  std::map<std::string, std::set<std::string>, std::less<>> keys_;  // by the owner's UID
};

}  // namespace berth::cluster
