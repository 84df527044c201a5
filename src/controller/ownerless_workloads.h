// Workloads that no job controls: when a client deletes one, its kueue.x-k8s.io/resource-in-use finalizer is removed
// here. When one that never had a job is evicted, nothing has to stop: it gives its quota back at once.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "controller/shell.h"
#include "controller/work_queue.h"
#include "controller/writes.h"
#include "jobs/reconcile.h"

namespace berth::controller {

// Removes the finalizer kueue.x-k8s.io/resource-in-use, if the workload still has this version.
void drop_workload_finalizer(Writes& writes, const api::kueue::Workload& workload, Writes::Done done);

class OwnerlessWorkloads {
 public:
  // `of_others`: workloads that another part of Berth looks after; may be empty.
  explicit OwnerlessWorkloads(Shell& shell, std::function<bool(const api::kueue::Workload&)> of_others = {});

  // The cache has a new version of the workload `key` ("namespace/name"); null: it is gone.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& now);
  void start();  // writing may begin

 private:
  void look(const std::string& key, WorkQueue::Finish finish);

  Shell& shell_;
  std::function<bool(const api::kueue::Workload&)> of_others_;
  // Workloads that are evicted, or that are being deleted and still carry our finalizer, perhaps with finalizers of
  // other clients.
  std::map<std::string, jobs::WorkloadPtr> waiting_;
  bool started_ = false;
  WorkQueue queue_;
};

}  // namespace berth::controller
