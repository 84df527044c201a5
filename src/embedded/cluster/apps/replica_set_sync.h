// Computes what a ReplicaSet needs next. Pure: a ReplicaSet and its pods in, one step out.
// https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

struct ReplicaSetView {
  const Json& set;
  const std::vector<JobPod>& pods;  // the pods that the ReplicaSet controls, in any order
  Time now;
  bool may_create = true;  // false: creating pods failed and its backoff is not over
  std::string failure;     // why the last creation failed; "" when it did not
};

struct ReplicaSetStep {
  std::size_t create = 0;       // this many pods
  std::vector<JobPod> remove;   // delete these
  std::vector<JobPod> release;  // give up these: the selector does not select them any more
  Json status;                  // what the status should be when nothing is to create, remove or release
  std::optional<Time> wake;     // call again at this time if nothing happens before
  bool changes_pods() const { return create > 0 || !remove.empty() || !release.empty(); }
};

// The largest number of pods that one step creates or deletes.
inline constexpr std::size_t kMaxReplicaChanges = 500;

ReplicaSetStep next_step(const ReplicaSetView& view);

}  // namespace berth::cluster
