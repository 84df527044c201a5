// A pod that Berth manages: what is kept of it between its changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace berth::jobs {

enum class PodPhase : std::uint8_t { kLive, kSucceeded, kFailed };

struct ManagedPod {
  // Of a pod with the admission gate: without status and managedFields. Of other pods: only the metadata, and nothing
  // of a pod that ran before.
  JsonPtr object;
  std::string ns, name, uid, version;
  std::string group;     // "" for a single pod
  std::string role;      // the name of its pod set in the group
  std::string prebuilt;  // the workload that a client made for the pod or its group; "" when there is none
  // Its owner gives it its queue and group, and makes their workload. Without a group it waits for the owner.
  bool served = false;
  // It runs, and Berth never let it go: its owner came to a queue later. It counts while the workload of the owner is
  // admitted.
  bool ran_before = false;
  Time creation{};
  std::optional<Time> deletion;
  PodPhase phase = PodPhase::kLive;
  bool gated = false;      // has the admission gate
  bool finalizer = false;  // has Berth's finalizer
  bool bound = false;      // to a node
  bool ready = false;      // condition Ready
  std::string message;     // status.message of a pod that ended
  JsonPtr conditions;      // status.conditions of a pod without the gate; null when there are none

  bool ended() const { return phase != PodPhase::kLive; }
  bool runnable() const { return !ended() && !deletion; }
  // Whether the pod uses what its workload holds. Until a pod on a node has ended, its containers may run.
  bool active() const { return !gated && !ended() && (bound || !deletion); }
};
using ManagedPodPtr = std::shared_ptr<const ManagedPod>;

// Whether Berth manages this pod: it has the admission gate or the finalizer, or the label that webhooks give to
// managed pods together with a queue or a group. Any client may have removed some of them.
bool belongs_to_berth(const Json& pod);

// The group that the owner of the pod puts it into, whatever the pod says; "": not known yet. nullopt: the pod has no
// owner that does so.
using ServedGroup = std::function<std::optional<std::string>(const Json& pod)>;

// `annotations`: an annotation may name the group; it takes precedence over the label.
ManagedPodPtr decode_managed_pod(const Json& pod, bool annotations, const ServedGroup& served = {});

// What the pods of a group must agree about, and the modes of the group. Read from one pod.
struct GroupTerms {
  std::string queue, priority_class, total_text, prebuilt;
  std::int32_t total = 0;  // 0: not a number from 1 to 2^31 - 1
  bool fast = false;       // the first pod is enough to be admitted
  bool serving = false;    // pods that end are replaced; the group never finishes
};
GroupTerms group_terms(const ManagedPod& pod);
// The failed pods of a group with such a pod are not replaced.
bool is_unretriable(const ManagedPod& pod);

// Older first: by creation, name and uid.
bool older(const ManagedPodPtr& a, const ManagedPodPtr& b);

}  // namespace berth::jobs
