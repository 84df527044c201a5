// Carries out the decisions of jobs/lost_pods: fails and deletes pods that cannot end on an unreachable node.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/core/node.h"
#include "base/executor.h"
#include "base/lifetime.h"
#include "controller/managed_objects.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "kube/typed_informer.h"

namespace berth::controller {

// Everything follows from stored objects, so a restart loses nothing. Keeps only pods that may be deleted by force.
class FailureRecovery {
 public:
  using Nodes = kube::TypedInformer<api::Node>;

  // All must outlive it.
  FailureRecovery(Shell& shell, const ManagedObjects& managed, const Nodes& nodes);
  ~FailureRecovery();

  // The caches have something new. Nothing is written before start().
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void node_changed(const std::string& name);
  void facts_changed();  // whether a namespace is managed may have changed
  void start();

 private:
  struct Pod {
    JsonPtr object;
    Time due{};
    TimerId timer = 0;  // until it is due
  };

  void forget(const std::string& uid);
  void look_soon(const std::string& uid);
  void look(const std::string& uid, WorkQueue::Finish finish);
  void fail(const std::string& uid, const JsonPtr& pod, WorkQueue::Finish finish);
  void remove(const std::string& uid, const JsonPtr& pod, WorkQueue::Finish finish);

  Shell& shell_;
  const ManagedObjects& managed_;
  const Nodes& nodes_;
  bool started_ = false;
  std::map<std::string, Pod> pods_;                            // by uid
  std::map<std::string, std::set<std::string>> uids_by_node_;  // their uids
  WorkQueue queue_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
