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

// One request of a stop. Some kinds need several requests; the state of the job shows which one is next.
struct JobPatch {
  Json body;                // merge patch
  std::string subresource;  // "" or "status"
  bool last = true;         // the job is stopped after this request
};

class JobAdapter {
 public:
  virtual ~JobAdapter() = default;
  virtual const JobKind& kind() const = 0;

  virtual bool suspended(const Json& job) const = 0;
  // A merge patch that suspends or resumes the job and changes nothing else.
  virtual Json suspension(bool suspend) const = 0;
  // Whether the job is suspended, but its templates are not yet as the user wrote them.
  virtual bool stopping(const Json& job) const = 0;
  virtual bool active(const Json& job) const = 0;  // the job still has pods
  virtual bool pods_ready(const Json& job) const = 0;
  // How many of its pods are ready or have ended for good; nullopt: the kind cannot tell.
  virtual std::optional<std::int64_t> pods_that_are_ready(const Json& /*job*/) const { return std::nullopt; }
  virtual std::optional<JobOutcome> finished(const Json& job) const = 0;
  virtual std::vector<api::kueue::PodSet> pod_sets(const Json& job) const = 0;
  // Fails when the job has pod sets that no workload can have; the error says which field is wrong. The API server's
  // webhooks refuse such a job; without webhooks it gets no workload.
  virtual Result<void> check_pod_sets(const Json& job) const = 0;
  // Fails when the status of the job cannot be read; the functions above count it as not active, not ready and not
  // finished then.
  virtual Result<void> check_status(const Json& /*job*/) const { return {}; }
  // Whether the operator of the job refuses it as it is: it gets no workload.
  virtual bool on_hold(const Json& /*job*/) const { return false; }
  virtual bool may_be_held() const { return false; }  // on_hold() can be true
  // Whether jobs of this kind may change their size while they run (KEP-77, slices.h).
  virtual bool may_be_elastic() const { return false; }
  // Another text for each size that the job has had: slices get different names by it. Not empty.
  virtual std::string size_version(const Json& job) const {
    return std::to_string(int_at(job, {"metadata", "generation"}));
  }
  // The number of pods of each pod set that are done and give their quota back. Empty when there are none or the kind
  // cannot tell.
  virtual std::vector<api::kueue::ReclaimablePod> reclaimable(const Json& job) const = 0;
  virtual std::string priority_class(const Json& job) const = 0;  // of its pods; empty when there is none

  // The job as it must be to run with these infos (unsuspended). Fails when they contradict the template.
  virtual Result<Json> started(const Json& job, const std::vector<PodSetInfo>& infos) const = 0;
  // What must be written before started(), as a request of its own. nullopt: nothing.
  virtual std::optional<Json> before_start(const Json& /*started*/) const { return std::nullopt; }
  // The next request that stops the job and restores its pod templates from `pod_sets`; nullopt when it is stopped,
  // or when its pods must be gone before the next request.
  virtual std::optional<JobPatch> next_stop(const Json& job, const std::vector<api::kueue::PodSet>& pod_sets) const = 0;

 private:
  friend class OneLook;
  // What the adapter finds out about this document it may remember until the next call. Null: it forgets everything.
  virtual void remember(const Json* /*job*/) const {}
};

// The document does not change while this object exists, so the adapter answers the same question only once. An adapter
// is in one look at a time.
class OneLook {
 public:
  OneLook(const JobAdapter& adapter, const Json& job) : adapter_(adapter) { adapter_.remember(&job); }
  ~OneLook() { adapter_.remember(nullptr); }
  OneLook(const OneLook&) = delete;
  OneLook& operator=(const OneLook&) = delete;

 private:
  const JobAdapter& adapter_;
};

// batch/v1 Job.
const JobAdapter& batch_job();

}  // namespace berth::jobs
