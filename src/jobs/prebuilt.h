// Prebuilt workloads: a client creates them for a job before the job exists.
// https://kueue.sigs.k8s.io/docs/concepts/workload/
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::jobs {

// The name of the prebuilt workload that the job names: by an annotation, when `annotations` is true, else by a
// label. Empty: there is none, so a workload is created for the job.
std::string_view prebuilt_workload(const Json& job, bool annotations);

}  // namespace berth::jobs
