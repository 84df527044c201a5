// Carries out the plans of jobs/pods for single pods and groups of pods, and for their workloads.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/awaited_workloads.h"
#include "controller/group_owners.h"
#include "controller/job_environment.h"
#include "controller/job_upkeep.h"
#include "controller/owner_questions.h"
#include "controller/pod_deployments.h"
#include "controller/pod_events.h"
#include "controller/pod_index.h"
#include "controller/pod_requests.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "jobs/pods/pod_plan.h"

namespace berth::controller {

// Everything follows from stored objects: after a restart the pods and workloads are looked at again. A change of a pod
// costs one look at its group, and changes of a group are collected first.
class PodController : public GroupListener {
 public:
  // Both must outlive it; `owners` may be constructed later, before anything is called.
  PodController(const JobEnvironment& environment, const GroupOwners& owners);
  ~PodController() override;

  // The caches have something new. Nothing is written before start(). Of `old` only name, namespace and uid are used.
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void owner_changed(const std::string& ns, const std::string& group, bool gone) override;
  void regroup(const std::string& uid) override;
  void regroup_all(const std::string& ns, const std::string& group) override;
  void owners_known() override;
  // A namespace, priority class or flavor changed: look at every pod and group again.
  void facts_changed();
  void start();

  // Whether the workload belongs to pods: to a group, or to a single pod that controlled it before.
  static bool owns(const api::kueue::Workload& workload);
  // Whether a pod names the workload as its prebuilt one.
  bool named(const api::kueue::Workload& workload) const;

 private:
  using Unit = PodUnit;
  using What = PodUnit::What;
  // The pod that controls a workload, or controlled it before. `uid`: of the pod; when it does not control the workload
  // it may be the one of its Deployment.
  struct PodRef {
    std::string key, uid;
    bool controls = false;
  };

  bool is_ours(const Json& pod) const;
  bool knows(const Json& pod) const;
  jobs::ManagedPodPtr decode(const Json& pod);
  static std::optional<PodRef> pod_of(const api::kueue::Workload& workload);
  static bool is_of(const api::kueue::Workload& workload, const jobs::ManagedPod& pod);
  void put(const jobs::ManagedPodPtr& pod);
  void forget(const std::string& uid);
  void learn(const jobs::ManagedPodPtr& before, const api::RestResponse& response);
  void look_soon(const Unit& unit);
  void index(const jobs::WorkloadPtr& workload, bool present);
  void index_name(const Unit& unit, const jobs::ManagedPod& pod, bool present);
  void look_at_those_that_name(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  std::vector<jobs::ManagedPodPtr> pods_of(const jobs::WorkloadPtr& workload) const;
  void report_why_they_wait(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void report_why_it_waits(const Unit& unit, const jobs::ManagedPod& pod);
  void report_about_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  bool knows_owner(const std::string& group, const WorkQueue::Finish& finish);
  bool makes_workload_for(const jobs::ManagedPod& pod, const Unit& unit) const;
  std::optional<std::string> job_uid_for(const Unit& unit, const WorkQueue::Finish& finish);
  void look(const Unit& unit, WorkQueue::Finish finish);
  jobs::PodPlan plan_single(const Unit& unit, const std::string& job_uid);
  jobs::PodPlan plan_group(const Unit& unit);
  void look_again_at(const Unit& unit, std::optional<Time> when);

  const JobEnvironment& environment_;
  Shell& shell_;
  const GroupOwners& owners_;
  jobs::JobFacts facts_;
  const jobs::ServedGroup served_{[this](const Json& pod) { return owners_.group_of(pod); }};
  // Those of workloads, too: pods and their workloads have the same templates.
  const jobs::PodKeeper keep_{[this](const Json& object) { return environment_.workloads.templates().share(object); },
                              [this](const Json& spec) { return environment_.workloads.templates().share_spec(spec); }};
  bool started_ = false;
  PodIndex pods_;
  // Workloads of single pods, by the key of the pod, ordered by creation and uid.
  StringMap<std::vector<jobs::WorkloadPtr>> workloads_;
  std::set<std::string> group_workloads_;  // keys of all workloads of groups
  // By the key of a prebuilt workload: the uids of the pods that name it, and what they belong to.
  std::map<std::string, std::map<std::string, Unit>> named_by_;
  AwaitedWorkloads awaited_;
  PodEvents events_;
  PodRequests requests_;
  DeletedOwners<Unit> deleted_;           // all their pods are gone
  std::map<Unit, std::uint64_t> timers_;  // looks that wait for their time
  WorkQueue singles_, groups_;
  OwnerQuestions questions_;  // about groups
  PodDeployments deployments_;
};

}  // namespace berth::controller
