// Carries out the decisions of jobs/ungate and jobs/stuck_pods: ungates the pods of workloads with a topology
// assignment and of elastic jobs, and fails pods whose node is lost. The slices of an elastic job count as one workload
// here, named after the first of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "controller/plan_runner.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "jobs/reconcile.h"
#include "jobs/stuck_pods.h"
#include "jobs/ungate.h"

namespace berth::controller {

// No place is given to two pods, even when the cache is far behind: every write has the pod version it was decided on
// as a precondition, its answer replaces the cached pod, and a pod whose last write failed or has an unknown outcome
// is read again before anything else is decided for its workload. The pods of an elastic job go only by a slice that
// the server has in this version, and whose quota no other slice has taken over: the cache may show more pods than the
// job has quota for now.
class Ungater {
 public:
  struct Others {
    jobs::HostFacts hosts;
    std::function<jobs::WorkloadPtr(const std::string& key)> workload;  // null when there is none
    // A gate of a pod of the workload was removed. May be empty.
    std::function<void(const api::kueue::Workload&, const Json& pod, std::string_view gate)> gate_removed{};
    // Whether this slice holds its quota still, as far as it is decided. Empty: the engine of the shell is asked.
    std::function<bool(const api::kueue::Workload& slice)> holds_quota{};
  };
  // `shell` must outlive it.
  Ungater(Shell& shell, Others others);

  // The caches have something new. Nothing is written before start().
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  // `key`: "namespace/name". Null: the workload is gone.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& now);
  void nodes_changed();
  void start();

 private:
  struct Pods {
    // By uid, without pods that ended: the newer of the cached pod and the pod in a later answer, as
    // jobs::placed_pod().
    std::map<std::string, JsonPtr> known;
    // The uids of pods whose last write failed or has an unknown outcome.
    std::set<std::string> doubtful;
  };
  using Send = std::function<void(const Target&, Writes::Done)>;

  void take_up(const std::string& key, const jobs::WorkloadPtr& now);
  void slice_changed(const std::string& key, const jobs::WorkloadPtr& now);
  void look_soon(const std::string& key);
  jobs::WorkloadPtr workload_of(const std::string& key) const;
  void look(const std::string& key, WorkQueue::Finish finish);
  void decide(const std::string& key, const WorkQueue::Finish& finish);
  bool holds_quota(const api::kueue::Workload& slice) const;
  void settle_doubts(const std::string& key, const WorkQueue::Finish& finish);
  // Asks the server whether the workload still has this version. A pod is failed only then, and that of an elastic job
  // let go.
  void confirm(const jobs::WorkloadPtr& workload, std::function<void(bool current)> then);
  // The answer is taken over before anything else is done with it.
  PlannedRequest request_about(const std::string& key, const JsonPtr& pod, Send send);
  PlannedRequest release(const std::string& key, const jobs::WorkloadPtr& workload, const jobs::PodRelease& release);
  PlannedRequest fail(const std::string& key, const jobs::StuckPod& stuck);
  void learn(const std::string& key, const JsonPtr& pod, const api::RestResponse& response);
  void forget(const std::string& key, const std::string& uid);

  Shell& shell_;
  const Others others_;
  bool started_ = false;
  StringMap<Pods> pods_;                    // by the key of their workload
  StringMap<std::string> owners_;           // uid of the pod -> key of its workload
  StringMap<jobs::WorkloadPtr> workloads_;  // those whose pods may be ungated
  // Slices that are not finished, by the key of the first of their chain; and that key by their own.
  StringMap<std::map<std::string, jobs::WorkloadPtr>> chains_;
  StringMap<std::string> chain_of_;
  // Keys of workloads with a pod that waits until its node is usable again.
  std::set<std::string> waiting_;
  WorkQueue queue_;
  PlanRunner runner_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
