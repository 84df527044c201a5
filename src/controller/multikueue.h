// Carries out the steps of multikueue/dispatch: jobs whose queue has an AdmissionCheck of the controller
// kueue.x-k8s.io/multikueue run on worker clusters. Writes whether these checks are active.
//
// Steps on the manager are carried out here, those on a worker by the queue of its connection: so a worker that does
// not answer holds up nothing but what is done there. Each of them computes the steps anew from what is seen then.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "controller/decoded_workloads.h"
#include "controller/dispatch_activity.h"
#include "controller/dispatched_kinds.h"
#include "controller/plan_runner.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "controller/worker_clusters.h"
#include "kube/informer.h"
#include "kube/typed_informer.h"
#include "multikueue/dispatch.h"

namespace berth::controller {

// More than 40 methods: each change of a cache, each part of what is seen and each kind of step is a short one.
class MultiKueueController {
 public:
  using Checks = kube::TypedInformer<api::kueue::AdmissionCheck>;

  // All must outlive it. `kinds` begins with batch Jobs, which every cluster has. The caches of checks and of the jobs
  // of all kinds are followed. `namespaces`: the cache of the namespaces. While the gate MultiKueue is off, nothing is
  // read or written.
  MultiKueueController(Shell& shell, const DecodedWorkloads& workloads, Checks& checks,
                       std::vector<DispatchedKind> kinds, const kube::Informer& namespaces);
  ~MultiKueueController();

  // The controller's caches are complete and this process leads: connects to the workers when there is an
  // AdmissionCheck of MultiKueue, or a workload that was sent to one. Before, nothing is read.
  void start();

  // The cache of workloads has something new. `key`: "namespace/name"; both versions may be null.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);

  // Tells the metrics the states of the clusters of these queues.
  using Queues = std::map<std::string, std::shared_ptr<const api::kueue::ClusterQueue>, std::less<>>;
  void refresh_metrics(const Queues& queues);
  // From now on nothing is sent to workers. Returns what the caller calls once, when it is done itself. `done` is
  // called after that, when all that was sent to workers has its answer, at most five seconds later: a worker may not
  // answer. The next process must see what this one wrote.
  std::function<void()> drain(std::function<void()> done);

 private:
  // What is seen of one workload.
  struct View {
    jobs::WorkloadPtr workload;            // null: it is gone
    const DispatchedKind* kind = nullptr;  // of its job; null: not known
    JsonPtr job;                           // null: it has none that can be dispatched
    api::kueue::AdmissionCheckState check;
    multikueue::Local local;
    std::vector<multikueue::Cluster> clusters;
  };

  void start_if_needed();
  void count_change(const std::string& key, const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void count_eviction(const View& view);
  static std::string queue_of(const api::kueue::Workload& workload);  // the ClusterQueue whose quota it has; "": none
  ClusterState state_of_cluster(const std::string& name);
  void check_changed(const std::string& name);
  void job_changed(const DispatchedKind& kind, const JsonPtr& old, const JsonPtr& now);
  const DispatchedKind* kind_of(std::string_view api_version, std::string_view kind) const;
  bool ready() const;
  bool is_ours(const std::string& check) const;
  bool seen_anywhere(const std::string& key);
  void look_at_all();
  void sweep();
  void wake_at(const std::string& key, Time when);

  // nullopt: too little is known for any step.
  std::optional<View> view_of(const std::string& key);
  bool read_check(View& view, std::vector<std::string>& configured) const;
  void read_job(View& view) const;
  void read_kind_of_copies(View& view, const std::string& key);
  // Whether a job that names the workload is the one that was made for it: a user of the worker may write labels, too.
  static bool is_job_of(const View& view, const multikueue::SeenJob& job);
  multikueue::Cluster cluster_state(const std::string& name, bool configured, const View& view, const std::string& key);
  std::vector<multikueue::Step> steps_for(const View& view) const;

  void look(const std::string& key, WorkQueue::Finish finish);
  void confirm_gone(const std::string& key, WorkQueue::Finish finish);
  void act(const std::string& key, WorkQueue::Finish finish);
  std::optional<PlannedRequest> on_manager(const View& view, const multikueue::Step& step);
  std::optional<PlannedRequest> sync_status(const View& view, const std::string& cluster);
  PlannedRequest finish_with(const View& view, const std::string& cluster);
  std::optional<PlannedRequest> release(const View& view);
  Outcome status_refused(const View& view, const std::string& cluster, const api::RestResponse& answer);
  static bool job_succeeded(const View& view, const WorkerCluster& cluster);
  std::optional<Time> retry_of_status(const std::string& key) const;
  void report(const View& view, api::kueue::CheckState state, std::string message, std::string cluster,
              std::vector<std::string> nominated);

  void act_on(WorkerCluster& cluster, const std::string& key, WorkQueue::Finish finish);
  void plan_on(WorkerCluster& cluster, const std::string& key, const View& view, const multikueue::Step& step,
               PlanRunner::Plan& plan);
  PlannedRequest create_on(WorkerCluster& cluster, const std::string& key, const api::GroupVersionResource& resource,
                           Json object);
  std::optional<PlannedRequest> update_on(WorkerCluster& cluster, const std::string& key, const View& view);
  void remove_on(WorkerCluster& cluster, const std::string& key, PlanRunner::Plan& plan);

  std::optional<api::Condition> activity_of(const api::kueue::AdmissionCheck& check);
  void write_active(const std::string& name, WorkQueue::Finish finish);

  Shell& shell_;
  const DecodedWorkloads& known_workloads_;
  const Checks& known_checks_;
  const std::vector<DispatchedKind> kinds_;
  const WorkerCluster::SenderOf sender_;
  kube::Informer configs_;
  bool may_start_ = false;
  bool needed_ = false;  // there was a check of MultiKueue, or a workload that may have copies on workers
  bool started_ = false;
  bool draining_ = false;
  std::set<std::string> with_checks_;        // keys of workloads that are not finished
  std::set<std::string> counted_evictions_;  // keys of workloads whose choice of a cluster has ended so
  // A status that the API server does not take is reported once for each answer, and sent again at this time.
  struct RefusedStatus {
    int code = 0;
    Time again{};
  };
  std::map<std::string, RefusedStatus> refused_statuses_;  // by the key of a workload
  std::set<std::string> confirmed_gone_;                   // keys of workloads of which the API server said so
  std::map<std::string, std::string, std::less<>> workload_of_job_;  // keys of workloads by the uid of their jobs
  std::map<std::string, std::pair<Time, TimerId>> wake_ups_;         // by the key of a workload
  WorkerClusters clusters_;
  WorkQueue workloads_, checks_;
  PlanRunner runner_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
