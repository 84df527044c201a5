// The parts of a node that placement uses: labels, taints, capacity and readiness.
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
  std::optional<bool> ready;   // the condition Ready: False and Unknown are false; none: no such condition
  Time ready_since{};          // its last transition
  ResourceList allocatable;
  bool operator==(const Node&) const = default;

  bool usable() const { return ready.value_or(false) && !unschedulable; }
};
// Lenient: invalid quantities count as absent.
Node decode_node(const Json& object);

}  // namespace berth::api
