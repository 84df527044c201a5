#include "embedded/cluster/apps/apps_controllers.h"

#include "api/apps_resources.h"
#include "api/resources.h"

namespace berth::cluster {

AppsControllers::AppsControllers(api::RestClient& client, Executor& executor)
    : deployments_(client, executor, api::kDeployments),
      replica_sets_(client, executor, api::kReplicaSets),
      stateful_sets_(client, executor, api::kStatefulSets),
      revisions_(client, executor, api::kControllerRevisions),
      pods_(client, executor, api::kPods),
      deployment_controller_(client, executor, deployments_, replica_sets_),
      replica_set_controller_(client, executor, replica_sets_, pods_),
      stateful_set_controller_(client, executor, stateful_sets_, pods_, revisions_) {}

void AppsControllers::start() {
  deployments_.on_change(
      [this](const JsonPtr& old, const JsonPtr& now) { deployment_controller_.deployment_changed(old, now); });
  replica_sets_.on_change([this](const JsonPtr& old, const JsonPtr& now) {
    deployment_controller_.set_changed(old, now);
    replica_set_controller_.set_changed(old, now);
  });
  stateful_sets_.on_change(
      [this](const JsonPtr& old, const JsonPtr& now) { stateful_set_controller_.set_changed(old, now); });
  revisions_.on_change(
      [this](const JsonPtr& old, const JsonPtr& now) { stateful_set_controller_.revision_changed(old, now); });
  pods_.on_change([this](const JsonPtr& old, const JsonPtr& now) {
    replica_set_controller_.pod_changed(old, now);
    stateful_set_controller_.pod_changed(old, now);
  });
  for (kube::Informer* each : {&deployments_, &replica_sets_, &stateful_sets_, &revisions_, &pods_}) {
    each->on_synced([this] {
      for (const kube::Informer* other : {&deployments_, &replica_sets_, &stateful_sets_, &revisions_, &pods_}) {
        if (!other->synced()) return;
      }
      deployment_controller_.begin();
      replica_set_controller_.begin();
      stateful_set_controller_.begin();
    });
    each->start();
  }
}

}  // namespace berth::cluster
