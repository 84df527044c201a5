// The ReplicaSet controller of the pretend cluster: keeps the number of pods of each ReplicaSet and writes its status.
// replica_set_sync.h decides what to do.
#pragma once

#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/cluster/apps/replica_set_sync.h"
#include "embedded/cluster/apps/writes.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "kube/informer.h"

namespace berth::cluster {

class ReplicaSetController {
 public:
  // All must outlive the controller. Tell it about each change of the two informers.
  ReplicaSetController(api::RestClient& client, Executor& executor, const kube::Informer& sets,
                       const kube::Informer& pods);

  void set_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  // Call it once, when both informers are synced: it does nothing before.
  void begin();

 private:
  void enqueue(const std::string& key);
  void look(const std::string& key);
  void change_pods(const std::string& key, const JsonPtr& set, const ReplicaSetStep& step);

  const kube::Informer& sets_;
  Executor& executor_;
  OwnWrites set_writes_, pod_writes_;
  OwnedPods owned_;
  Looks looks_;
  AppWrites writes_;
  bool ready_ = false;
};

}  // namespace berth::cluster
