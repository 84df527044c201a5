// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::api {

inline constexpr std::string_view kPodSucceeded = "Succeeded";
inline constexpr std::string_view kPodFailed = "Failed";

// A pod in such a phase runs no more.
inline bool is_ended_phase(std::string_view phase) { return phase == kPodSucceeded || phase == kPodFailed; }
inline bool pod_ended(const Json& pod) { return is_ended_phase(string_at(pod, {"status", "phase"})); }

}  // namespace berth::api
