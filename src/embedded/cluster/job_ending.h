// Why a Job ends: it succeeded, or a limit or a policy says that it failed.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "embedded/cluster/job_status.h"
#include "embedded/cluster/job_survey.h"
#include "embedded/cluster/job_view.h"

namespace berth::cluster {

struct JobEnding {
  bool success = false;
  std::string reason, message;  // of the condition that says so
};

// The ending that the status records already; none when it records none.
std::optional<JobEnding> recorded_ending(const JobStatus& status);

struct EndingCheck {
  std::optional<JobEnding> ending;
  std::optional<Time> deadline;  // a deadline that is not reached yet: check again then
};
EndingCheck check_ending(const JobView& view, const JobSpec& spec, const JobStatus& status, const JobSurvey& survey);

}  // namespace berth::cluster
