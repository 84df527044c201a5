// Computes what a job of a described kind needs next from its operator: pods to create and to delete, and its status.
// Pure: call it again with the result of the step until there is nothing to do. docs/job-kinds.md has the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kueue/webhooks/admission.h"
#include "base/json.h"
#include "base/time.h"
#include "jobs/kinds/job_kind.h"

namespace berth::cluster {

struct OperatorView {
  const jobs::kinds::JobKindSpec& kind;
  const Json& job;
  const std::vector<JsonPtr>& pods;     // that the job controls
  const api::kueue::ObjectGetter& get;  // other objects that the kind needs
  Time now;
};

struct OperatorStep {
  std::optional<Json> scaled;      // the job with its next sizes, to write before anything else
  std::optional<Time> look_again;  // when its sizes change
  std::optional<Json> status;      // to write
  std::vector<Json> create;
  std::vector<JsonPtr> remove;
  std::string problem;  // why the job cannot be run as it is; "" otherwise
};

// The largest number of pods that one step creates.
inline constexpr std::size_t kMaxOperatorStep = 500;

OperatorStep next_step(const OperatorView& view);

}  // namespace berth::cluster
