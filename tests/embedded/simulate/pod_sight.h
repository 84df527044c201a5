// A pod as the audit of pods sees it: what it asks for, and how far it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::simulation {

// On pods whose scheduling gate a user removes.
inline constexpr std::string_view kUngatedByHand = "test.example.com/ungated-by-hand";

struct PodSight {
  explicit PodSight(const Json& pod);

  std::string name, uid, phase, group, workload, pod_set, role, queue, total, controller;
  bool managed = false;   // Berth manages the pod, even if a client removed some of its labels
  bool orphaned = false;  // an owner made it, and it has none any more
  bool by_hand = false, deleting = false, gated = false, ended = false, ready = false;
  std::string unschedulable;  // why it has no node
  bool bound = false;
  // Containers run or may start.
  bool runs() const { return !gated && !ended && !deleting; }
  // Containers run, start or end.
  bool active() const { return !gated && !ended && (bound || !deleting); }
  // Whether the workload is that of the pod's group, and has a pod set for the pod's role. Users give pods other groups
  // and roles while they wait.
  bool belongs_to(const Json& candidate) const;
};

// Whether these pods are a group that can get a workload: they agree, and none is missing.
bool is_whole(const std::vector<PodSight>& group);

// Whether one of the scheduling gates is Kueue's.
bool has_admission_gate(const JsonArray& gates);
bool keeps_finalizer(const Json& pod);
// The uid of the controller of an object; "" when it has none.
std::string controller_uid(const Json& object);
bool is_deleted(const Json& object);

}  // namespace berth::simulation
