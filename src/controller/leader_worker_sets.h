// Carries out the plans of jobs/serving for LeaderWorkerSets: one workload for each group of pods, and the group that
// each pod belongs to. PodController looks after the pods of the groups.
//
// While a cluster does not serve LeaderWorkerSets, nothing waits for them. The cache keeps trying, with a growing
// delay.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "controller/job_upkeep.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "jobs/serving/leader_worker_set.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::controller {

class LeaderWorkerSetController {
 public:
  struct Context {
    api::RestClient& client;
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    kube::InformerOptions informer_options;
    std::function<bool(const Json& set)> managed;
    // Whether the cache of workloads has reached this resourceVersion.
    std::function<bool(std::string_view version)> workloads_seen;
    // A workload of a set that is gone: its pods look after it from now on.
    std::function<void(const std::string& ns, const std::string& workload)> abandoned;
    jobs::JobFacts facts;  // `managed` is set per look
    Duration delay;        // how long changes of a set are collected
  };
  explicit LeaderWorkerSetController(Context context);
  ~LeaderWorkerSetController() { *alive_ = false; }

  void read();   // starts its cache
  void start();  // writing may begin

  // The caches have something new. Of `old` only name, namespace and uid are used.
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void facts_changed();  // a namespace, priority class or flavor changed: look at every set again

  // Whether a set that exists looks after the workload. Until the sets have been read once, every set may exist.
  bool keeps(const api::kueue::Workload& workload) const;
  // Whether the pod waits until this controller gives it a group.
  bool awaits_group(const Json& pod) const;

 private:
  // Workloads of the sets of one name, by their own name.
  using Workloads = std::map<std::string, jobs::WorkloadPtr>;
  // One look at a set, and the answers that are still out.
  struct Look {
    std::string key;
    JsonPtr set;
    jobs::ServingPlan plan;
    std::size_t running = 0;
    bool ok = true;
    WorkQueue::Finish finish;
  };
  using LookPtr = std::shared_ptr<Look>;

  void abandon(const std::string& key);
  void set_changed(const JsonPtr& old, const JsonPtr& now);
  void listed(const api::RestResponse& response);
  void look_soon(const std::string& key);
  void look(const std::string& key, WorkQueue::Finish finish);
  void take_steps(const LookPtr& look, std::size_t next);
  void create_workload(const LookPtr& look, std::size_t next, Json object);
  void group_pods(const LookPtr& look);
  void finish(const LookPtr& look);
  void tell(const Json& set, const jobs::JobEvent& event);

  Context context_;
  kube::Informer sets_;
  bool started_ = false;
  bool listed_ = false;  // the sets were read once, or the cluster does not serve them
  int told_ = 0;         // the last answer to a list that was logged
  std::map<std::string, Workloads, std::less<>> workloads_;  // by the key of the set
  // Pods that wait for their group, by the key of the set, then by uid.
  std::map<std::string, std::map<std::string, jobs::UngroupedPod>, std::less<>> pods_;
  std::map<std::string, std::string, std::less<>> set_of_pod_;  // the key of the set, by the uid of the pod
  // The newest resourceVersion of a workload created for a set, until the cache shows it.
  std::map<std::string, std::string, std::less<>> created_;
  std::map<std::string, std::string, std::less<>> warned_;  // the last warning about a set, by its uid
  DeletedOwners<std::string> deleted_;                      // keys of sets
  WorkQueue queue_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::controller
