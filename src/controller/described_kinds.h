// The kinds of jobs that descriptions add: a cache and a controller for each kind that the cluster serves. A kind that
// is not installed is waited for. A kind that the description does not fit, or that is served in other versions only,
// is left alone until that changes: what its workloads hold, they keep. Kinds that only own jobs have a cache alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/webhooks/admission.h"
#include "base/lifetime.h"
#include "controller/dispatched_kinds.h"
#include "controller/job_controller.h"
#include "controller/job_environment.h"
#include "controller/kind_checks.h"
#include "jobs/kinds/described_job.h"
#include "kube/informer.h"

namespace berth::controller {

class DescribedKinds {
 public:
  // The kinds and the owners that the options name. `get` returns any cached object. `settled` is called when settled()
  // becomes true. `environment` must outlive it.
  DescribedKinds(const JobEnvironment& environment, api::kueue::ObjectGetter get, std::function<void()> settled);
  ~DescribedKinds();

  void read();  // starts the caches
  // Of each kind it is known which objects there are, or that it is not installed or cannot be read. Before that nobody
  // can tell whether a job has a managed owner.
  bool settled() const { return unsettled_.empty(); }
  // The resources that are not known yet, by name.
  std::vector<std::string> missing() const;
  void start();  // this process leads: jobs are looked at as soon as their cache is complete

  void workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void workload_gone(const std::string& key);
  void facts_changed();

  // Null when no cache of these holds the object.
  JsonPtr find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const;
  // Whether the workload of a job of one of these kinds is admitted; nullopt for other resources.
  std::optional<bool> admitted(const api::GroupVersionResource& resource, const Json& job) const;
  // Whether a job of one of these kinds had the workload, which has no controller now.
  bool had(const api::kueue::Workload& workload) const;
  // Whether a job of one of these kinds names the workload as its prebuilt one.
  bool named(const api::kueue::Workload& workload) const;
  // Batch Jobs, and those of these kinds whose jobs may run on other clusters, as the gates say. This object and the
  // cache of batch Jobs must outlive them.
  std::vector<DispatchedKind> dispatched(kube::Informer& batch_jobs) const;

 private:
  struct Kind;
  struct Lookup;

  kube::Informer& cache_of(const api::GroupVersionResource& resource);
  void listed(const api::GroupVersionResource& resource, const api::RestResponse& response);
  void settle(const api::GroupVersionResource& resource);
  Kind* kind_of(const api::GroupVersionResource& resource) const;
  bool listed_now(const Kind& kind) const;
  void manage(Kind& kind);
  void checked();

  const JobEnvironment& environment_;
  Shell& shell_;
  const api::kueue::ObjectGetter get_;
  const std::function<void()> settled_;
  std::map<api::GroupVersionResource, std::unique_ptr<kube::Informer>> caches_;
  std::map<api::GroupVersionResource, int> reported_;  // the code of the last list that was logged
  std::set<api::GroupVersionResource> unsettled_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  KindChecks checks_;
  bool leading_ = false;
  Lifetime lifetime_;
};

}  // namespace berth::controller
