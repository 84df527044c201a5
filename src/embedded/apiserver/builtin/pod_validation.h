// Validation of pod specs, in pods and in templates.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
#pragma once

#include <string>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::apiserver {

void validate_pod_spec(const Json& spec, const std::string& path, api::FieldErrors& errors);
// Validates labels, annotations and the spec.
void validate_pod_template(const Json& pod_template, const std::string& path, api::FieldErrors& errors);

// Containers and their fields (container_validation.cpp).
void validate_containers(const Json& spec, const std::string& path, api::FieldErrors& errors);
// The field `resources` of a container or pod.
void validate_resources(const Json& resources, const std::string& path, api::FieldErrors& errors);
// Volumes of a pod (volume_validation.cpp).
void validate_volumes(const Json& spec, const std::string& path, api::FieldErrors& errors);
// Tolerations, affinity, topology spread constraints, scheduling gates (placement_validation.cpp).
void validate_placement(const Json& spec, const std::string& path, api::FieldErrors& errors);
void validate_toleration(const Json& toleration, const std::string& path, api::FieldErrors& errors);

}  // namespace berth::apiserver
