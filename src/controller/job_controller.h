// Carries out the steps of jobs/reconcile for every job and for every workload that a job controls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/job_environment.h"
#include "controller/job_upkeep.h"
#include "controller/own_patches.h"
#include "controller/owner_questions.h"
#include "controller/plan_runner.h"
#include "controller/refused_updates.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "jobs/reconcile.h"
#include "kube/informer.h"

namespace berth::controller {

class JobController {
 public:
  // What differs from kind to kind.
  struct Rules {
    std::function<bool(const Json& job)> its_kind;  // whether jobs such as this are managed at all
    // Workloads that another part of Berth looks after; may be empty.
    std::function<bool(const api::kueue::Workload&)> of_others;
    // Whether an object of another kind names the workload as its prebuilt one; may be empty.
    std::function<bool(const api::kueue::Workload&)> named_by_others{};
  };
  // `jobs`: the cache of this kind. All references must outlive it.
  JobController(const jobs::JobAdapter& adapter, const JobEnvironment& environment, kube::Informer& jobs, Rules rules);

  // The caches have something new. Nothing is written before start().
  void job_changed(const JsonPtr& old, const JsonPtr& now);
  void workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void workload_gone(const std::string& key);  // whichever job the workload belonged to
  // A namespace, priority class or flavor changed: look at every job again.
  void facts_changed();
  // An object changed whose controller may be a job: that job is looked at.
  void child_changed(const Json& child);
  void start();
  // Until the next start() no job is looked at. A look that has begun ends.
  void stop() { started_ = false; }
  // Whether the workload of this job is admitted.
  bool admitted(const Json& job) const;
  // Whether a job of this kind names the workload as its prebuilt one.
  bool names(const api::kueue::Workload& workload) const;

 private:
  // The job that a workload belongs to: the job that controls it or, when it has no controller, the job that
  // controlled it before.
  struct JobRef {
    std::string key;  // "namespace/name"
    std::string uid;  // empty: unknown
    bool controls = false;
  };
  std::optional<JobRef> job_of(const api::kueue::Workload& workload) const;
  void index(const jobs::WorkloadPtr& workload, bool present);
  bool is_named(const api::kueue::Workload& workload) const;
  // Whether a workload with the label of a job that is not there was that job's: it has the finalizer of the workloads
  // that are made for jobs, or it lost its owner while this process ran. Any client may write the label.
  bool had_job(const api::kueue::Workload& workload) const;
  void index_name(const Json& job, bool present);  // the prebuilt workload that the job names
  // Splits the workloads stored under a job's key: `mine` belong to the job as it is now, `lost` belong to no job any
  // more.
  void sort_out(const std::string& key, const JsonPtr& job, std::vector<jobs::WorkloadPtr>& mine,
                std::vector<jobs::WorkloadPtr>& lost) const;
  bool knows_owners(const std::string& key, const JsonPtr& job, const std::vector<jobs::WorkloadPtr>& lost,
                    const WorkQueue::Finish& finish);
  std::string line_of(const std::string& key) const;
  void look_soon(const std::string& key);
  void look(const std::string& key, WorkQueue::Finish finish);
  struct Look;
  PlanRunner::Plan plan_for(const std::string& key, std::vector<jobs::Step> steps, const JsonPtr& job);
  PlannedRequest request_to_create(const std::shared_ptr<Look>& look, jobs::CreateWorkload step);
  // `again`: another patch of the job follows.
  PlannedRequest request_to_patch(const std::shared_ptr<Look>& look, jobs::PatchJob step, bool again);
  bool waits_for_its_workload(const std::string& key);
  const api::OwnerReference* owner_of(const api::kueue::Workload& workload) const;
  // Record why a step failed: as an event, or in the log.
  Outcome refused_to_describe(const JsonPtr& job, const api::RestResponse& answer);
  static Outcome log_failure(const api::RestResponse& answer);
  // Why the API server does not take the update: on the job and on its workload.
  void report_refusal(const jobs::PatchJob& update, const JsonPtr& job, const api::RestResponse& response);
  void report(const jobs::JobEvent& event, const JsonPtr& job);

  const jobs::JobAdapter& adapter_;
  const JobEnvironment& environment_;
  Shell& shell_;
  kube::Informer& jobs_;
  const Rules rules_;
  bool started_ = false;
  // Workloads by the key of the job that controls or controlled them, ordered by creation and uid.
  StringMap<std::set<jobs::WorkloadPtr, OlderWorkload>> workloads_;  // key: "namespace/name"
  // Keys of jobs by the key of the prebuilt workload that they name.
  std::map<std::string, std::set<std::string>> named_by_;
  // By the key of a job: the resourceVersion of the workload that was created for it, until the cache shows it. When
  // the job changes in the meantime, it must not get a second workload.
  std::map<std::string, std::string> created_;
  // By the key of a workload that a job asks for by name: the key of that job. The job is looked at again when the
  // workload is gone. The workload may belong to another client. Bounded by the number of workloads.
  std::map<std::string, std::string> awaited_names_;
  std::set<std::string> lost_owner_;  // uids of workloads whose job was taken from their owners
  RefusedUpdates refusals_;
  std::set<std::string> below_others_;  // keys of jobs with a managed owner: they follow its workload
  DeletedOwners<std::string> deleted_;  // keys of jobs
  WorkQueue queue_;
  OwnerQuestions questions_;
  OwnPatches patches_;
  PlanRunner runner_;
};

}  // namespace berth::controller
