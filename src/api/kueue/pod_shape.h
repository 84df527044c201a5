// The shape of a pod: what decides where it fits and what it costs. Pods of a group with equal shapes have one role.
#pragma once

#include <string>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::api::kueue {

// Returns eight hexadecimal digits that are equal for pod specs of one shape, the same digits as Kueue's annotation
// role-hash. The shape is: requests and ports of the containers and init containers, requests at pod level, node
// selector, affinity, tolerations, runtime class, priority, topology spread constraints, overhead and resource claims.
// Images, commands, environment, volumes and limits do not count.
std::string role_hash(const Json& pod_spec);

// Appends an error for each part of the shape that differs from `old`. `path`: of the pod spec.
void check_same_shape(const Json& pod_spec, const Json& old, const std::string& path, FieldErrors& errors);

}  // namespace berth::api::kueue
