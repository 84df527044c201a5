// What the controllers of the group apps read and make alike.
// https://kubernetes.io/docs/concepts/workloads/controllers/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/selector.h"
#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

inline constexpr std::string_view kTemplateHashLabel = "pod-template-hash";
inline constexpr std::string_view kRevisionHashLabel = "controller-revision-hash";

// The owner reference of the object of the group apps that controls `object`; null when no such object does.
const Json* controlling_deployment(const Json& object);
const Json* controlling_replica_set(const Json& object);
const Json* controlling_stateful_set(const Json& object);

// The owner reference of something that `owner` controls.
Json controller_reference(const Json& owner, std::string_view kind);
// Patches that make `owner` the controller of an object, and that take away the owner with this UID.
Json with_owner(const Json& owner, std::string_view kind);
Json without_owner(std::string_view uid);
// A pod as `pod_template` describes it, controlled by `owner`, with generateName "<owner>-".
Json pod_from_template(const Json& owner, std::string_view kind, const Json& pod_template);

// A short hash for names and labels: of a pod template and of the number of collisions so far.
std::string template_hash(const Json& pod_template, std::int64_t collisions);

// Whether the pod has been ready for `min_ready_seconds`. `wake` becomes the time at which it will have been, if that
// is earlier than what is there.
bool pod_available(const JobPod& pod, std::int64_t min_ready_seconds, Time now, std::optional<Time>& wake);

// The selector of a Deployment, ReplicaSet or StatefulSet; one that selects nothing when it has none.
api::LabelSelector selector_of(const Json& owner);
// The selector selects the labels of the object.
bool selects(const api::LabelSelector& selector, const Json& object);

}  // namespace berth::cluster
