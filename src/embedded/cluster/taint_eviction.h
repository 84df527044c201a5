// Deletes pods from nodes with a NoExecute taint that the pods do not tolerate, or whose toleration has expired.
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/scheduling.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/cluster/pods_by_node.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

class TaintEviction {
 public:
  // All must outlive this object.
  TaintEviction(api::RestClient& client, Executor& executor, const kube::Informer& nodes, const kube::Informer& pods,
                const PodsByNode& index);
  ~TaintEviction();

  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  struct Waiting {
    std::string uid;
    Time since{};  // when its node was first seen with a NoExecute taint
    TimerId timer = 0;
  };
  void look_at(const std::string& key);
  void evict(const std::string& key);
  void forget(const std::string& key);
  std::optional<Time> end_of_toleration(const Json& pod, const Json& node, Time since) const;

  Executor& executor_;
  const kube::Informer& nodes_;
  const kube::Informer& pods_;
  const PodsByNode& index_;
  std::map<std::string, Waiting> waiting_;  // by pod key
  Writer writer_;
};

}  // namespace berth::cluster
