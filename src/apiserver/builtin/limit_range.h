// What LimitRange objects do to pods. https://kubernetes.io/docs/concepts/policy/limit-range/
#pragma once

#include <string>
#include <vector>

#include "apiserver/resource.h"
#include "base/json.h"

namespace berth::apiserver {

// Gives containers the requests and limits they lack and notes it in the annotation
// kubernetes.io/limit-ranger.
void apply_limit_range_defaults(Json& pod, const Lookup& lookup);
// Why the pod breaks a limit range of its namespace; empty: it does not.
std::vector<std::string> broken_limits(const Json& pod, const Lookup& lookup);

}  // namespace berth::apiserver
