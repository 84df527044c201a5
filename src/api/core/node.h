// A node as placement sees it: labels, taints, room, and whether it is up.
// https://kubernetes.io/docs/reference/node/node-status/
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/meta.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::api {

struct Node {
  std::string name;
  StringMap labels;
  std::vector<Taint> taints;
  bool unschedulable = false;  // cordoned
  std::optional<bool> ready;   // the condition Ready: False and Unknown are false; none: there is no such condition
  Time ready_since{};          // its last transition
  ResourceList allocatable;
  bool operator==(const Node&) const = default;

  bool usable() const { return ready.value_or(false) && !unschedulable; }
};
// Lenient: quantities that cannot be read count as absent.
Node decode_node(const Json& object);

}  // namespace berth::api
