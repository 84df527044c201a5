// Which pods are whose: those that a controller's jobs own, as it sees them and as its own writes left them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/own_writes.h"

namespace berth::cluster {

class OwnedPods {
 public:
  // The reference to the job that controls a pod; null when it is nobody's here.
  using OwnerOf = const Json* (*)(const Json& pod);
  OwnedPods(OwnerOf owner_of, OwnWrites& pods) : owner_of_(owner_of), pods_(pods) {}

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  // By the UID of their owner, in the order of their keys.
  std::vector<JsonPtr> of(std::string_view uid);

 private:
  OwnerOf owner_of_;
  OwnWrites& pods_;
  std::map<std::string, std::set<std::string>, std::less<>> keys_;  // by the owner's UID
};

}  // namespace berth::cluster
