// What a Job needs next. Pure: a Job and its pods in, one step out; called again with what the step changed
// until there is nothing to do. A crash between any two steps loses and double-counts nothing: a pod that
// ended is first written down in the Job's status, then loses its finalizer, then is added to the counts.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-tracking-with-finalizers
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "cluster/job_spec.h"

namespace berth::cluster {

// Failures since the last success: they delay the next pod, 10 s, 20 s, 40 s, ... up to 10 minutes.
struct JobBackoff {
  std::int64_t failures = 0;
  Time last_failure{};
};

struct JobEvent {
  bool warning = false;
  std::string reason, message;
};

struct JobStep {
  enum class Kind { kNothing, kWriteStatus, kChangePods, kDeleteJob };
  Kind kind = Kind::kNothing;

  Json status;                        // kWriteStatus: the whole status
  std::vector<JobEvent> events;       // kWriteStatus: once it is written
  std::optional<JobBackoff> backoff;  // kWriteStatus: what to remember once it is written

  std::vector<Json> create;     // kChangePods
  std::vector<JobPod> release;  // kChangePods: lose the tracking finalizer
  std::vector<JobPod> remove;  // kChangePods: are deleted, after their release when they are in `release` too

  std::optional<Time> wake;  // look again then, if nothing happens before
};

struct JobView {
  const Json& job;
  const std::vector<JobPod>& pods;  // that the Job owns, in any order
  JobBackoff backoff;
  Time now;
  bool may_create = true;  // false: creating pods failed and waits for its next try
};

// No more pods than this are created or deleted in one step.
inline constexpr std::size_t kMaxPodChanges = 500;

JobStep next_step(const JobView& view);

}  // namespace berth::cluster
