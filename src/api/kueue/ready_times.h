// The annotation kueue.x-k8s.io/wait-for-pods-ready of a job and its workload: how long its pods may take to be ready,
// instead of waitForPodsReady in the Configuration (KEP-4803; feature gate WorkloadLevelWaitForPodsReady).
#pragma once

#include <optional>
#include <string_view>

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "api/meta.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace berth::api::kueue {

struct ReadyTimes {
  Duration timeout{};   // from admission to the first time that all pods are ready; whole seconds, more than 0
  Duration recovery{};  // from the loss of a ready pod; `timeout` where the annotation names none; more than 0
  bool operator==(const ReadyTimes&) const = default;
};

// Parses {"timeoutSeconds": 30, "recoveryTimeoutSeconds": 40}; the second one may be missing. An error says what is
// expected.
Result<ReadyTimes> parse_ready_times(std::string_view text);
// Those of an object; nullopt when the annotation is absent, empty or cannot be read.
std::optional<ReadyTimes> ready_times(const ObjectMeta& meta);

// Appends what is wrong with the annotation of a new job, if it has a meaning by these rules.
void check_ready_times(const Json& job, const LabelRules& rules, FieldErrors& errors);

}  // namespace berth::api::kueue
