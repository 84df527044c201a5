// Computes what a Job needs next. Pure: a Job and its pods in, one step out. Call it again with the result of the
// step until there is nothing to do. A crash between two steps loses no pod and counts none twice: a terminated pod
// is first recorded in the Job's status, then loses its finalizer, and is then added to the counts.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-tracking-with-finalizers
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/job_view.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

struct JobEvent {
  bool warning = false;
  std::string reason, message;
};

struct JobStep {
  enum class Kind { kNothing, kWriteStatus, kChangePods, kDeleteJob };
  Kind kind = Kind::kNothing;

  Json status;                        // kWriteStatus: the whole new status
  std::vector<JobEvent> events;       // kWriteStatus: record these after the write
  std::optional<JobBackoff> backoff;  // kWriteStatus: remember this after the write

  std::vector<Json> create;     // kChangePods
  std::vector<JobPod> release;  // kChangePods: remove the tracking finalizer
  std::vector<JobPod> remove;   // kChangePods: delete; pods that are in `release` too are deleted after their release

  std::optional<Time> wake;  // call again at this time if nothing happens before
};

JobStep next_step(const JobView& view);

}  // namespace berth::cluster
