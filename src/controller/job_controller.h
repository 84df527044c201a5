// Carries out what jobs/reconcile says: for every job and every workload that a job controls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "engine/engine.h"
#include "jobs/reconcile.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"

namespace berth::controller {

class JobController {
 public:
  struct Context {
    Executor& executor;
    Writes& writes;
    kube::EventRecorder& events;
    kube::Informer& jobs;
    std::function<void(const engine::Event&)> feed;  // reports go to the engine
    std::function<bool(const Json& job)> managed;
    // Whether the cache of workloads has taken in what the server wrote as this version.
    std::function<bool(std::string_view version)> workloads_seen;
    jobs::JobFacts facts;  // `managed` is filled in per job
  };
  JobController(const jobs::JobAdapter& adapter, Context context);

  ~JobController() { *alive_ = false; }

  // The caches saw something new. Nothing is written before start().
  void job_changed(const JsonPtr& old, const JsonPtr& now);
  void workload_changed(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now);
  void workload_gone(const std::string& key);  // whoever it belonged to
  void facts_changed();  // a priority class, a flavor: look at every job again
  void start();

 private:
  // Which job a workload belongs to: the one that controls it or, when nobody does, the one that did.
  struct JobRef {
    std::string key;  // "namespace/name"
    std::string uid;  // empty: not known
    bool controls = false;
  };
  std::optional<JobRef> job_of(const api::kueue::Workload& workload) const;
  void index(const jobs::WorkloadPtr& workload, bool present);
  void index_name(const Json& job, bool present);  // of the prebuilt workload that the job names
  // Splits the workloads filed under a job's key: those of the job as it is now, and those that nobody has
  // any more.
  void sort_out(const std::string& key, const JsonPtr& job, std::vector<jobs::WorkloadPtr>& mine,
                std::vector<jobs::WorkloadPtr>& lost) const;
  void look(const std::string& key, WorkQueue::Finish finish);
  void perform(std::shared_ptr<std::vector<jobs::Step>> steps, std::size_t next, JsonPtr job,
               WorkQueue::Finish finish);
  bool waits_for_its_workload(const std::string& key);
  const api::OwnerReference* owner_of(const api::kueue::Workload& workload) const;
  void tell(const jobs::JobEvent& event, const JsonPtr& job);

  const jobs::JobAdapter& adapter_;
  Context context_;
  bool started_ = false;
  // Workloads by the key of the job that controls them, or did, in order of creation and uid.
  struct Older {
    bool operator()(const jobs::WorkloadPtr& a, const jobs::WorkloadPtr& b) const;
  };
  std::map<std::string, std::set<jobs::WorkloadPtr, Older>> workloads_;  // key: "namespace/name"
  std::map<std::string, std::set<std::string>>
      named_by_;  // keys of jobs by the key of the prebuilt workload that they name
  // The version of a workload that was created for a job (its key), until the cache has seen it: a job that changes
  // meanwhile needs no second one.
  std::map<std::string, std::string> created_;
  // By the key of a workload that a job asks for by name: the key of the job, which is looked at again when that workload goes.
  // Another client's workload may have the name. Bounded by the workloads that exist.
  std::map<std::string, std::string> awaited_names_;
  WorkQueue queue_;
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  // answers under way find out that the controller is gone
};

}  // namespace berth::controller
