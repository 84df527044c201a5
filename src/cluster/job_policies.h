// What a Job says about failures and success of its pods.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy and #success-policy
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "cluster/job_indexes.h"
#include "cluster/job_spec.h"

namespace berth::cluster {

enum class FailureAction { kCount, kIgnore, kFailIndex, kFailJob };
struct FailureVerdict {
  FailureAction action = FailureAction::kCount;
  std::string message;  // of kFailJob
};
// The first rule of spec.podFailurePolicy that the failed pod matches; kCount without one. Only pods in phase
// Failed are judged.
FailureVerdict judge_failure(const Json& job, const JobPod& pod);

// The message when a rule of spec.successPolicy holds: "Matched rules at index 0".
std::optional<std::string> success_policy_met(const Json& job, const IndexSet& succeeded,
                                              std::int64_t completions);

}  // namespace berth::cluster
