// Computes what a Deployment needs next. Pure: a Deployment and its ReplicaSets in, one step out.
// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace berth::cluster {

// A ReplicaSet as its Deployment sees it.
struct DeployedSet {
  explicit DeployedSet(const JsonPtr& set);

  JsonPtr object;
  std::string name, uid;
  Time created{};
  std::int64_t revision = 0;  // 0: none
  std::int64_t wanted = 0;    // spec.replicas
  std::int64_t replicas = 0, ready = 0, available = 0, terminating = 0;
  bool deleting = false;
  bool observed = false;  // its status is about its present generation

  bool gone() const { return wanted == 0 && observed && replicas == 0 && terminating == 0; }  // it has no pods
};

struct DeploymentView {
  const Json& deployment;
  const std::vector<DeployedSet>& sets;  // the ReplicaSets that the Deployment controls, in any order
  Time now;
  bool may_create = true;  // false: creating a ReplicaSet failed and its backoff is not over
  std::string failure;     // why the last creation failed; "" when it did not
};

struct DeploymentStep {
  struct Scaled {
    std::string name;
    std::int64_t from = 0, to = 0;
  };
  // At most one of these three has content.
  std::optional<Json> create;  // a new ReplicaSet
  std::vector<Json> update;    // ReplicaSets, whole
  std::vector<DeployedSet> remove;

  std::vector<Scaled> scaled;      // what create and update do, for events
  std::optional<Json> deployment;  // the Deployment with another revision annotation
  Json status;                     // what the status should be
  std::optional<Time> wake;        // call again at this time if nothing happens before
};

DeploymentStep next_step(const DeploymentView& view);

}  // namespace berth::cluster
