// Which pods of a Job are created, deleted and released next.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/job_status.h"
#include "embedded/cluster/job_survey.h"
#include "embedded/cluster/job_view.h"

namespace berth::cluster {

// The largest number of pods that one step creates or deletes.
inline constexpr std::size_t kMaxPodChanges = 500;

struct PodChanges {
  std::vector<Json> create;
  std::vector<JobPod> release;  // remove the tracking finalizer
  std::vector<JobPod> remove;   // delete; pods that are in `release` too are deleted after their release
  std::optional<Time> wake;     // a pod may be created at this time

  bool empty() const { return create.empty() && release.empty() && remove.empty(); }
};

// `ending`: the Job is about to finish, so no pod is created and all active ones are deleted.
PodChanges pod_changes(const JobView& view, const JobSpec& spec, const JobStatus& status, const JobSurvey& survey,
                       bool ending);

}  // namespace berth::cluster
