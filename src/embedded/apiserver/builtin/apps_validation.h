// Checks that Deployments, ReplicaSets and StatefulSets share.
// https://kubernetes.io/docs/concepts/workloads/controllers/
#pragma once

#include <string_view>

#include "embedded/apiserver/builtin/checks.h"

namespace berth::apiserver {

// The names that Kubernetes uses in the texts about a selector and about a pod template.
struct ServingKind {
  std::string_view of_selector;  // "empty selector is invalid for <of_selector>"
  std::string_view of_template;  // "activeDeadlineSeconds in <of_template> is not Supported"
};

// The selector must not be empty and must select the labels of the template; the pods of the template must run for
// ever. `pod_template` is spec.template, or what it becomes with more volumes.
void validate_serving_pods(const Json& spec, const Json& pod_template, const ServingKind& kind, FieldErrors& errors);

// Checks that none of `counts` in the status is negative, that none of `parts` is above status.replicas, and that no
// more replicas are available than are ready. `ready_name`: how the text about the last one names the ready replicas.
void validate_replica_counts(const Json& object, std::initializer_list<std::string_view> counts,
                             std::initializer_list<std::string_view> parts, std::string_view ready_name,
                             FieldErrors& errors);
// status.collisionCount only grows.
void validate_collision_count(const Json& object, const Json& old, FieldErrors& errors);

}  // namespace berth::apiserver
