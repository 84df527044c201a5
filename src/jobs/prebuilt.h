// Workloads that somebody made for a job before the job came.
// https://kueue.sigs.k8s.io/docs/concepts/workload/
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::jobs {

// The name of the workload that the job names as its own: by an annotation when `annotations` count, else by
// a label. Empty: none, so one is made for it.
std::string_view prebuilt_workload(const Json& job, bool annotations);

}  // namespace berth::jobs
