// The pod failure policy and the success policy of a Job.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy and #success-policy
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "embedded/cluster/job_indexes.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

enum class FailureAction { kCount, kIgnore, kFailIndex, kFailJob };
struct FailureVerdict {
  FailureAction action = FailureAction::kCount;
  std::string message;  // for kFailJob
};
// The action of the first rule of spec.podFailurePolicy that the failed pod matches; kCount when no rule matches or
// the pod is not in phase Failed.
FailureVerdict judge_failure(const Json& job, const JobPod& pod);

// The message when a rule of spec.successPolicy holds: "Matched rules at index 0". None when no rule holds.
std::optional<std::string> success_policy_met(const Json& job, const IndexSet& succeeded, std::int64_t completions);

}  // namespace berth::cluster
