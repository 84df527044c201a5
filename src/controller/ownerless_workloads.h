// Workloads that no job controls: when a client deletes one, its kueue.x-k8s.io/resource-in-use finalizer is removed
// here. When one without any owner is evicted, the client that runs its pods stops them and ends the eviction
// (QuotaReserved is False, and the admission is gone). If no client does, it gives its quota back after a while, which
// an event announces.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/lifetime.h"
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
  ~OwnerlessWorkloads();

  // The cache has a new version of the workload `key` ("namespace/name"); null: it is gone.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& now);
  void start();  // writing may begin

 private:
  struct Waiting {
    jobs::WorkloadPtr workload;
    Time since{};  // of the eviction, if it is evicted
    bool reported = false;
    TimerId timer = 0;
  };
  void look(const std::string& key, WorkQueue::Finish finish);
  void wait_for_the_end(const std::string& key, Waiting& waiting);
  void report_stopped(const api::kueue::Workload& workload);
  void report_that_it_is_near(const api::kueue::Workload& workload, Duration left);
  void look_at(const std::string& key, Waiting& waiting, Time when);
  void forget(const std::string& key);

  Shell& shell_;
  std::function<bool(const api::kueue::Workload&)> of_others_;
  // Workloads that are evicted, or that are being deleted and still carry our finalizer, perhaps with finalizers of
  // other clients.
  std::map<std::string, Waiting> waiting_;
  bool started_ = false;
  WorkQueue queue_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
