// The part of Volcano's scheduler that writes PodGroup statuses: counts of pods, and whether enough of them run.
// Another controller decides which groups become Inqueue.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/volcano/types.h"
#include "base/lifetime.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

// The status of a group with these pods. Inqueue becomes Running when as many pods as it needs have a node. Inqueue
// and Running become Completed when all pods have terminated, unless more are to come. Other phases do not change.
api::volcano::PodGroupStatus group_status(const api::volcano::PodGroup& group, const std::vector<JsonPtr>& pods,
                                          bool more_to_come);

// Writes the status of a group when it changes.
class PodGroupKeeper {
 public:
  // The caches call pod_changed() and look_soon(); they must outlive the keeper.
  PodGroupKeeper(api::RestClient& client, Executor& executor, const kube::Informer& groups, const kube::Informer& pods,
                 std::function<bool(const Json& group)> more_to_come);
  PodGroupKeeper(const PodGroupKeeper&) = delete;
  PodGroupKeeper& operator=(const PodGroupKeeper&) = delete;

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void look_soon(const std::string& group);  // "namespace/name": the group changed, or whether more pods are to come

 private:
  void look(const std::string& group);

  Executor& executor_;
  const kube::Informer& groups_;
  const kube::Informer& pods_;
  std::function<bool(const Json& group)> more_to_come_;
  Writer writer_;
  std::map<std::string, std::set<std::string>> pods_of_;  // by group
  std::set<std::string> due_;
  Lifetime lifetime_;
};

}  // namespace berth::cluster
