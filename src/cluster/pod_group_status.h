// What the pretend cluster's scheduler says of PodGroups: how many of their pods run, and whether that is enough. Who
// lets groups in is somebody else's decision.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/volcano/types.h"
#include "cluster/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

// The status of a group with these pods. Inqueue becomes Running when as many as it needs have a node, and Running
// Completed when all have ended, unless more are to come. A group that waits goes on waiting.
api::volcano::PodGroupStatus group_status(const api::volcano::PodGroup& group, const std::vector<JsonPtr>& pods,
                                          bool more_to_come);

// Writes it when it changes.
class PodGroupKeeper {
 public:
  // Told by the caches, which must outlive the keeper.
  PodGroupKeeper(api::RestClient& client, Executor& executor, const kube::Informer& groups, const kube::Informer& pods,
                 std::function<bool(const Json& group)> more_to_come);
  ~PodGroupKeeper() { *alive_ = false; }
  PodGroupKeeper(const PodGroupKeeper&) = delete;
  PodGroupKeeper& operator=(const PodGroupKeeper&) = delete;

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void look_soon(const std::string& group);  // "namespace/name": the group, or what is to come of it, changed

 private:
  void look(const std::string& group);

  Executor& executor_;
  const kube::Informer& groups_;
  const kube::Informer& pods_;
  std::function<bool(const Json& group)> more_to_come_;
  Writer writer_;
  std::map<std::string, std::set<std::string>> pods_of_;  // by group
  std::set<std::string> due_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::cluster
