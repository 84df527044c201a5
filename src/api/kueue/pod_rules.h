// The rules of Kueue's webhooks for plain pods and groups of pods, as pure functions.
// https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "base/json.h"

namespace berth::api::kueue {

// The name of the pod's group; "" for a single pod. The annotation counts before the label.
std::string_view pod_group_name(const Json& pod, bool identifier_annotations = true);
// The number of pods in the group; nullopt when the annotation is absent or no number from 1 to 2147483647.
std::optional<std::int32_t> pod_group_total_count(const Json& pod);
bool has_scheduling_gate(const Json& pod, std::string_view name);
// The framework of the owner that gives the pod its queue and group ("statefulset"). "" when there is none: the pods of
// a Deployment have a queue and no group from the start, and a pod without a controller has nobody to wait for.
std::string_view suspending_owner(const Json& pod);

// Whether Berth decides when the pod runs. Not managed besides the general rules: mirror pods of the kubelet, and pods
// of a Volcano PodGroup that name no queue themselves.
bool is_managed_pod(const Json& pod, const JobContext& context);

// On creation: gives a managed pod the default queue and priority class, the label, finalizer and gates of Kueue, and
// the annotation with its role. Idempotent.
void default_pod(Json& pod, const JobContext& context);
// Whether default_pod() changes a new pod.
bool defaults_pod(const Json& pod, const JobContext& context);

// Errors of a new pod. Pods that are neither managed nor claim to be have none.
FieldErrors validate_pod(const Json& pod, const JobContext& context);
// Only changes of labels and annotations give errors: others must be able to finish any pod.
FieldErrors validate_pod_update(const Json& pod, const Json& old, const JobContext& context);

}  // namespace berth::api::kueue
