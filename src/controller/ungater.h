// Carries out what jobs/ungate and jobs/stuck_pods say: lets the pods of placed workloads go to their nodes, and fails
// those whose node is lost.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "jobs/reconcile.h"
#include "jobs/stuck_pods.h"
#include "jobs/ungate.h"
#include "kube/event_recorder.h"

namespace berth::controller {

// No place is given twice, however far the cache lags behind: every write names the version of the pod it was decided
// on, the answer to it replaces what the cache shows, and a pod whose write has no known outcome is read anew before
// anything else is decided for its workload.
class Ungater {
 public:
  struct Context {
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    jobs::HostFacts hosts;
    std::function<jobs::WorkloadPtr(const std::string& key)> workload;  // null when there is none
    Duration delay;  // changes of a workload's pods are collected this long
  };
  explicit Ungater(Context context);
  ~Ungater();

  // The caches saw something new. Nothing is written before start().
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& now);  // `key`: "namespace/name"; null: gone
  void nodes_changed();
  void start();

 private:
  struct Pods {
    std::map<std::string, JsonPtr> known;  // by uid, without those that ended: as the cache or a later answer has them
    std::set<std::string> doubtful;        // uids of pods whose last write may or may not have happened
  };
  // One request about one pod.
  struct Request {
    JsonPtr pod;
    std::function<void(const Target&, Writes::Done)> send;
  };
  struct Batch;

  void look_soon(const std::string& key);
  jobs::WorkloadPtr workload_of(const std::string& key) const;
  void look(const std::string& key, WorkQueue::Finish finish);
  void decide(const std::string& key, const WorkQueue::Finish& finish);
  void settle_doubts(const std::string& key, const WorkQueue::Finish& finish);
  // A pod is only failed for a workload as it is now, not as the cache had it.
  void confirm(const jobs::WorkloadPtr& workload, std::function<void(bool current)> then);
  Request release(const jobs::PodRelease& release);
  Request fail(const jobs::StuckPod& stuck);
  void perform(const std::string& key, std::vector<Request> requests, std::function<void(bool ok)> then);
  void pump(const std::shared_ptr<Batch>& batch);
  void learn(const std::string& key, const JsonPtr& pod, const api::RestResponse& response);
  void forget(const std::string& key, const std::string& uid);

  Context context_;
  bool started_ = false;
  std::map<std::string, Pods> pods_;                    // by the key of their workload
  std::map<std::string, std::string> owners_;           // the same by uid of the pod
  std::map<std::string, jobs::WorkloadPtr> workloads_;  // those that let pods go
  std::set<std::string> waiting_;                       // workloads with a pod that waits for its node to come back
  WorkQueue queue_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // answers under way find out that it is gone
};

}  // namespace berth::controller
