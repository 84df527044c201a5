// Makes a local queue in each namespace that a cluster queue selects (KEP-7610, Configuration: defaultLocalQueues).
// What it made is never changed or removed by it: it is an ordinary local queue with the label
// kueue.x-k8s.io/auto-generated.
#pragma once

#include <string>

#include "api/config/default_local_queues.h"
#include "base/lifetime.h"
#include "controller/cluster.h"
#include "controller/shell.h"
#include "controller/work_queue.h"

namespace berth::controller {

class DefaultQueues {
 public:
  // Both must outlive it. Listens to the caches of `cluster`, which are not started yet.
  DefaultQueues(Shell& shell, Cluster& cluster);

  void start();  // writing may begin; does nothing when the Configuration does not enable it

 private:
  bool selects(const Json& ns) const;
  void look_at_all();
  void look(const std::string& ns, const WorkQueue::Finish& finish);
  void make(const api::kueue::ClusterQueue& queue, const std::string& ns, const std::string& name,
            WorkQueue::Finish finish);
  void report(const api::kueue::ClusterQueue& queue, bool warning, const std::string& reason, const std::string& note);

  Shell& shell_;
  const Cluster& cluster_;
  bool started_ = false;
  WorkQueue queue_;  // of namespaces
  Lifetime lifetime_;
};

}  // namespace berth::controller
