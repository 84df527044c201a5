// What the pods of a Job show: which are active, which terminated since the status was written, and which failed
// indexes may be retried.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "embedded/cluster/job_policies.h"
#include "embedded/cluster/job_status.h"
#include "embedded/cluster/job_view.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

// Points to the pods of the JobView that it was made from.
struct JobSurvey {
  std::vector<const JobPod*> pods;  // all, by UID
  std::vector<const JobPod*> active;
  std::vector<const JobPod*> new_succeeded, new_failed;  // terminated, and not recorded in the status yet
  std::map<std::int64_t, const JobPod*> last_failed;     // by index, for indexes that may be retried
  // Failed pods that keep their finalizer until a new pod of their index takes over the failure count. For lookup only:
  // the order of pointers is not deterministic.
  std::set<const JobPod*> held;
  std::map<const JobPod*, FailureVerdict> verdicts;  // of the new failed pods; for lookup only, too
  std::string fail_job_message;                      // of the failure policy's rule that fails the Job; empty: none
  std::int64_t ready = 0, terminating = 0;
  std::int64_t succeeded = 0, failed = 0;  // of the Job, with the new pods
  JobBackoff backoff;                      // with the new pods

  FailureAction verdict_of(const JobPod& pod) const;
};

// All pods, by UID.
std::vector<const JobPod*> pods_by_uid(const JobView& view);

// Also adds the indexes that are new to status.completed_indexes and status.failed_indexes.
JobSurvey survey_pods(const JobView& view, const JobSpec& spec, JobStatus& status);

}  // namespace berth::cluster
