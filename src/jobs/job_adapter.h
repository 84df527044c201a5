// One kind of job: where its pod sets are, how it starts, stops and finishes. Pure: JSON in, JSON out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "api/rest.h"
#include "base/json.h"
#include "jobs/pod_set_info.h"

namespace berth::jobs {

struct JobKind {
  api::GroupVersionResource resource;
  std::string kind;
  std::string controller;  // reportingController of its events
  std::string api_version() const {
    return resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
  }
};

struct JobOutcome {
  bool succeeded = false;
  std::string message;
};

// One request of a stop: some kinds take several, each shown by the next state of the job.
struct JobPatch {
  Json body;                // merge patch
  std::string subresource;  // "" or "status"
  bool last = true;         // the job is stopped when this one is done
};

class JobAdapter {
 public:
  virtual ~JobAdapter() = default;
  virtual const JobKind& kind() const = 0;

  virtual bool suspended(const Json& job) const = 0;
  virtual bool stopping(const Json& job) const = 0;  // suspended, and its templates are not as the user wrote them yet
  virtual bool active(const Json& job) const = 0;    // it still has pods
  virtual bool pods_ready(const Json& job) const = 0;
  virtual std::optional<JobOutcome> finished(const Json& job) const = 0;
  virtual std::vector<api::kueue::PodSet> pod_sets(const Json& job) const = 0;
  // What of the job makes pod sets that no workload could have. The API server's webhooks refuse such a job; without them
  // it gets no workload.
  virtual Result<void> check_pod_sets(const Json& job) const = 0;
  // How many pods of each pod set are done and give their quota back. Empty when the kind cannot tell.
  virtual std::vector<api::kueue::ReclaimablePod> reclaimable(const Json& job) const = 0;
  virtual std::string priority_class(const Json& job) const = 0;  // of its pods; empty when none

  // The job as it shall be when it runs with these infos (unsuspended). Fails when they contradict the
  // template.
  virtual Result<Json> started(const Json& job, const std::vector<PodSetInfo>& infos) const = 0;
  // The next request that stops the job and brings its pod templates back to `pod_sets`; nullopt when it is
  // stopped.
  virtual std::optional<JobPatch> next_stop(const Json& job,
                                            const std::vector<api::kueue::PodSet>& pod_sets) const = 0;
};

// batch/v1 Job.
const JobAdapter& batch_job();

}  // namespace berth::jobs
