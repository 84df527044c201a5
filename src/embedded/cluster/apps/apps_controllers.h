// The controllers of Deployments, ReplicaSets and StatefulSets of the pretend cluster, as kube-controller-manager has
// them.
#pragma once

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/cluster/apps/deployment_controller.h"
#include "embedded/cluster/apps/replica_set_controller.h"
#include "embedded/cluster/apps/stateful_set_controller.h"
#include "kube/informer.h"

namespace berth::cluster {

class AppsControllers {
 public:
  // Both must outlive the controllers.
  AppsControllers(api::RestClient& client, Executor& executor);

  void start();

 private:
  kube::Informer deployments_, replica_sets_, stateful_sets_, revisions_, pods_;
  DeploymentController deployment_controller_;
  ReplicaSetController replica_set_controller_;
  StatefulSetController stateful_set_controller_;
};

}  // namespace berth::cluster
