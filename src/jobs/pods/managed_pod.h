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
  // Only what several pods may have in common: the labels, annotations and finalizers, the namespace, and the owners of
  // a served pod and of a pod of a Deployment that waits. Nothing of a pod that ran before, nor of a single one that
  // ended and was released.
  JsonPtr object;
  JsonPtr pod_template;  // of a pod with the admission gate: its spec, with empty metadata; null for other pods
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
  JsonPtr conditions;      // status.conditions of a pod that runs or may start; null when there are none

  const Json& spec() const;  // null for a pod without the admission gate
  bool ended() const { return phase != PodPhase::kLive; }
  bool runnable() const { return !ended() && !deletion; }
  // Whether the pod uses what its workload holds. Until a pod on a node has ended, its containers may run.
  bool active() const { return !gated && !ended() && (bound || !deletion); }
};
using ManagedPodPtr = std::shared_ptr<const ManagedPod>;

// Whether the pod waits for the Deployment that made it.
bool is_of_deployment(const ManagedPod& pod);

// Whether Berth manages this pod: it has the admission gate or the finalizer, the label that webhooks give to managed
// pods together with a queue or a group, or an annotation with the workload of its group. Any client may have removed
// some of them.
bool belongs_to_berth(const Json& pod);

// The group that the owner of the pod puts it into, whatever the pod says; "": not known yet. nullopt: the pod has no
// owner that does so.
using ServedGroup = std::function<std::optional<std::string>(const Json& pod)>;

// Returns the documents that a pod with the admission gate keeps. Many pods have the same, so they may share one.
struct PodKeeper {
  std::function<JsonPtr(const Json& object)> object = copy;
  std::function<JsonPtr(const Json& spec)> pod_template = template_with;

  static JsonPtr copy(const Json& object);
  static JsonPtr template_with(const Json& spec);  // {"metadata": {}, "spec": ...}
};

// `annotations`: an annotation may name the group; it takes precedence over the label.
ManagedPodPtr decode_managed_pod(const Json& pod, bool annotations, const ServedGroup& served = {},
                                 const PodKeeper& keep = {});

// The pod as an object with metadata and spec, as far as they are kept.
Json pod_object(const ManagedPod& pod);

// What the pods of a group must agree about, and the modes of the group. Read from one pod.
struct GroupTerms {
  std::string queue, priority_class, total_text, prebuilt;
  std::int32_t total = 0;  // 0: not a number from 1 to 2^31 - 1
  bool fast = false;       // the first pod is enough to be admitted
  bool serving = false;    // pods that end are replaced; the group never finishes
};
GroupTerms group_terms(const ManagedPod& pod);
// How many pods of its group the pod allows to be not ready (KEP-15423). 0 when it says nothing, or no number from 0 to
// less than all pods of the group.
std::int32_t allowed_not_ready(const ManagedPod& pod, std::int32_t total);
// The failed pods of a group with such a pod are not replaced.
bool is_unretriable(const ManagedPod& pod);

// Older first: by creation, name and uid.
bool older(const ManagedPodPtr& a, const ManagedPodPtr& b);

}  // namespace berth::jobs
