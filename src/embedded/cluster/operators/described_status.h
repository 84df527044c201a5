// The status of a job of a described kind, as the pretend operator of the kind writes it.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "jobs/kinds/job_kind.h"

namespace berth::cluster {

// The present status with what the description says about it. Conditions of other types and other fields stay. A
// condition whose status does not change keeps its lastTransitionTime. Conditions that hold come last. `pods` and
// `phase`: see jobs/kinds/expression.h. Fails when the expression fails or gives no map.
Result<Json> described_status(const jobs::kinds::JobKindSpec& kind, const Json& job, const Json& pods,
                              std::string_view phase, Time now);

}  // namespace berth::cluster
