// A batch/v1 Job and its pods as the Job controller reads them.
// https://kubernetes.io/docs/concepts/workloads/controllers/job/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod_phase.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::cluster {

inline constexpr std::string_view kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
inline constexpr std::string_view kIndexKey = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kIndexIgnoredFailures = "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr std::string_view kJobControllerName = "kubernetes.io/job-controller";

struct JobPod;

struct JobSpec {
  explicit JobSpec(const Json& job);

  std::string name, ns, uid;
  bool deleting = false;
  bool suspended = false;
  bool indexed = false;
  bool ours = true;  // no other controller manages it
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::int64_t backoff_limit = 6;
  std::optional<std::int64_t> backoff_limit_per_index, max_failed_indexes;
  std::optional<std::int64_t> active_deadline_seconds, ttl_seconds;
  bool only_replace_failed =
      false;  // pods that are being deleted count as failed and are replaced only after they terminated
  bool restarts_in_place = false;  // restartPolicy: OnFailure

  std::int64_t index_limit() const { return indexed ? completions.value_or(0) : 0; }
  // Whether the pod has an index that the job counts: one below index_limit().
  bool counts_index_of(const JobPod& pod) const;
};

struct JobPod {
  explicit JobPod(const JsonPtr& pod);

  JsonPtr object;
  std::string name, uid, phase;
  Time created{};
  Time finished{};  // estimate of when the pod terminated, see finish_time() in job_spec.cpp
  std::optional<Time> ready_since;
  std::int64_t restarts = 0;
  std::optional<std::int64_t> index;
  std::int64_t index_failures = 0, index_ignored_failures = 0;
  bool bound = false, deleting = false, tracked = false;

  bool succeeded() const { return phase == api::kPodSucceeded; }
  bool ended() const { return api::is_ended_phase(phase); }
  bool active() const { return !ended() && !deleting; }
  bool terminating() const { return !ended() && deleting; }
  // Whether the pod counts as a failure of the job.
  bool failed(const JobSpec& job) const {
    return phase == "Failed" || (!job.only_replace_failed && deleting && !succeeded());
  }
};

// Whether `a` is deleted before `b` when a job has too many pods. A total order.
bool removed_before(const JobPod& a, const JobPod& b);

struct NewPod {
  std::optional<std::int64_t> index;
  std::int64_t failures = 0, ignored_failures = 0;  // of the index, when the job has a backoff limit per index
};
// The object to create for one more pod of the job.
Json make_pod(const Json& job, const JobSpec& spec, const NewPod& what);

}  // namespace berth::cluster
