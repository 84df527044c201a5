// Workloads that no job controls: when somebody deletes one, nobody else takes our finalizer from it.
#pragma once

#include <map>
#include <string>

#include "controller/work_queue.h"
#include "controller/writes.h"
#include "jobs/reconcile.h"

namespace berth::controller {

// Takes kueue.x-k8s.io/resource-in-use from the workload, if it is as it was seen.
void drop_workload_finalizer(Writes& writes, const api::kueue::Workload& workload, Writes::Done done);

class OwnerlessWorkloads {
 public:
  OwnerlessWorkloads(Executor& executor, Writes& writes);

  // The caches saw something new of the workload `key` ("namespace/name"); null: it is gone.
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& now);
  void start();  // writing may begin

 private:
  void look(const std::string& key, WorkQueue::Finish finish);

  Writes& writes_;
  std::map<std::string, jobs::WorkloadPtr>
      leaving_;  // deleted and kept by nothing but our finalizer, or by others' too
  bool started_ = false;
  WorkQueue queue_;
};

}  // namespace berth::controller
