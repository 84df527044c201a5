// Applies LimitRange objects to pods. https://kubernetes.io/docs/concepts/policy/limit-range/
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// Sets missing requests and limits of containers, and records it in the annotation kubernetes.io/limit-ranger.
void apply_limit_range_defaults(Json& pod, const Lookup& lookup);
// The violations of the namespace's limit ranges by the pod; empty: none.
std::vector<std::string> broken_limits(const Json& pod, const Lookup& lookup);

}  // namespace berth::apiserver
