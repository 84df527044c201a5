// The Deployment controller of the pretend cluster: makes and scales the ReplicaSets of each Deployment and writes its
// status. deployment_sync.h decides what to do.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/cluster/apps/deployment_sync.h"
#include "embedded/cluster/apps/writes.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "kube/informer.h"

namespace berth::cluster {

class DeploymentController {
 public:
  // All must outlive the controller. Tell it about each change of the two informers.
  DeploymentController(api::RestClient& client, Executor& executor, const kube::Informer& deployments,
                       const kube::Informer& sets);

  void deployment_changed(const JsonPtr& old, const JsonPtr& now);
  void set_changed(const JsonPtr& old, const JsonPtr& now);
  // Call it once, when both informers are synced: it does nothing before.
  void begin();

 private:
  void enqueue(const std::string& key);
  void look(const std::string& key);
  bool claim(const std::string& key, const Json& deployment);
  void change_sets(const std::string& key, const JsonPtr& deployment, DeploymentStep step);
  void create(const std::string& key, const JsonPtr& deployment, DeploymentStep step);
  void collided(const std::string& key, const JsonPtr& deployment, const Json& set);
  void record_scaling(const Json& deployment, const std::vector<DeploymentStep::Scaled>& scaled);

  const kube::Informer& deployments_;
  Executor& executor_;
  OwnWrites deployment_writes_, set_writes_;
  OwnedPods owned_;                  // ReplicaSets
  std::set<std::string> ownerless_;  // keys of ReplicaSets without controller
  Looks looks_;
  AppWrites writes_;
  bool ready_ = false;
};

}  // namespace berth::cluster
