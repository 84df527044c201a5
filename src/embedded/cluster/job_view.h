// What the next step of a Job is computed from: the Job, its pods, the backoff and the time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

// Failures since the last success. They delay the next pod by 10 s, 20 s, 40 s, ... up to 10 minutes.
struct JobBackoff {
  std::int64_t failures = 0;
  Time last_failure{};
};

struct JobView {
  const Json& job;
  const std::vector<JobPod>& pods;  // the pods that the Job owns, in any order
  JobBackoff backoff;
  Time now;
  bool may_create = true;  // false: creating pods failed and its backoff is not over
};

}  // namespace berth::cluster
