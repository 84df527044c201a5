// Carries out the plans of jobs/pods for single pods and groups of pods, and for their workloads.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "controller/job_upkeep.h"
#include "controller/pod_index.h"
#include "controller/shared_templates.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "jobs/pods/pod_plan.h"
#include "kube/event_recorder.h"

namespace berth::controller {

// Everything follows from stored objects: after a restart the pods and workloads are looked at again. A change of a pod
// costs one look at its group, and changes of a group are collected first.
class PodController {
 public:
  struct Context {
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    std::function<void(const engine::Event&)> feed;  // sends reports to the engine
    std::function<bool(std::string_view ns)> manages_namespace;
    // Whether the cache of workloads has reached this resourceVersion.
    std::function<bool(std::string_view version)> workloads_seen;
    SharedTemplates& shared;   // also of workloads: those of pods have the same templates
    jobs::JobFacts facts;      // `managed` is set per look
    Duration group_delay;      // how long changes of a group are collected
    jobs::ServedGroup served;  // the groups of pods whose owners make them; may be empty
    // Whether it is not known yet which owner the workload of a group has: then nothing happens to it. May be empty.
    std::function<bool(const api::kueue::Workload&)> owner_unknown{};
    // The admission gate of a pod of the workload was removed. May be empty.
    std::function<void(const api::kueue::Workload&, const jobs::ManagedPod&)> gate_removed{};
  };
  explicit PodController(Context context);
  ~PodController();

  // The caches have something new. Nothing is written before start(). Of `old` only name, namespace and uid are used.
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  // The owner of this group is new, changed or gone.
  void owner_changed(const std::string& ns, const std::string& group, bool gone);
  // The owner of this pod may have put it into another group.
  void regroup(const std::string& uid);
  // No owner of a workload is unknown any more.
  void owners_known();
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
  // The pod that controls a workload, or controlled it before.
  struct PodRef {
    std::string key, uid;
    bool controls = false;
  };
  struct Batch;

  bool is_ours(const Json& pod) const;
  bool knows(const Json& pod) const;
  jobs::ManagedPodPtr decode(const Json& pod);
  static std::optional<PodRef> pod_of(const api::kueue::Workload& workload);
  void put(const jobs::ManagedPodPtr& pod);
  void forget(const std::string& uid);
  void learn(const jobs::ManagedPodPtr& before, const api::RestResponse& response);
  void look_soon(const Unit& unit);
  void index(const jobs::WorkloadPtr& workload, bool present);
  void index_name(const Unit& unit, const jobs::ManagedPod& pod, bool present);
  void look_at_those_that_name(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  std::vector<jobs::ManagedPodPtr> pods_of(const jobs::WorkloadPtr& workload) const;
  void tell_why_they_wait(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void tell_about_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  bool waits_for_its_workload(const Unit& unit);
  void look(const Unit& unit, WorkQueue::Finish finish);
  jobs::PodPlan plan_single(const Unit& unit);
  jobs::PodPlan plan_group(const Unit& unit);
  void look_again_at(const Unit& unit, std::optional<Time> when);
  void take_steps(const std::shared_ptr<Batch>& batch, std::size_t next);
  void create_workload(const std::shared_ptr<Batch>& batch, std::size_t next, Json object);
  void pump(const std::shared_ptr<Batch>& batch);
  void act(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action);
  void remove_pod(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action);
  void done(const std::shared_ptr<Batch>& batch, const jobs::PodAction& action, const api::RestResponse* failed);
  void tell(const jobs::JobEvent& event, const jobs::PodPlan& plan);
  void tell(const jobs::JobEvent& event, const jobs::ManagedPodPtr& pod);
  void record(const jobs::JobEvent& event, const jobs::ManagedPod& pod, std::string_view controller);
  void record(const jobs::JobEvent& event, const std::string& key, const kube::ObjectRef& on, std::string controller);

  Context context_;
  const jobs::PodKeeper keep_{[this](const Json& object) { return context_.shared.share(object); },
                              [this](const Json& spec) { return context_.shared.share_spec(spec); }};
  bool started_ = false;
  PodIndex pods_;
  // Workloads of single pods, by the key of the pod, ordered by creation and uid.
  std::map<std::string, std::set<jobs::WorkloadPtr, OlderWorkload>> workloads_;
  std::set<std::string> group_workloads_;  // keys of all workloads of groups
  // By the key of a prebuilt workload: the uids of the pods that name it, and what they belong to.
  std::map<std::string, std::map<std::string, Unit>> named_by_;
  // The resourceVersion of the workload that was created for a unit, until the cache shows it.
  std::map<Unit, std::string> created_;
  // By the key of a workload: the single pod whose workload has that name. The workload may belong to another client;
  // the pod is looked at again when it is gone. Bounded by the number of pods that ever waited for such a workload.
  std::map<std::string, std::string> awaited_names_;
  DeletedOwners<Unit> deleted_;           // all their pods are gone
  std::map<Unit, std::uint64_t> timers_;  // looks that wait for their time
  // A hash of the last warning about each pod (by uid) or owner (by the key of its group): it is recorded once, not at
  // every look.
  std::map<std::string, std::size_t> warned_;
  WorkQueue singles_, groups_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::controller
