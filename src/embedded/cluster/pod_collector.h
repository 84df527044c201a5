// Fails and deletes the pods of nodes that do not exist any more, because no kubelet does it.
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-garbage-collection
#pragma once

#include <map>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/cluster/pods_by_node.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

// A node that is created again within this time keeps its pods. (Pod garbage collection of Kubernetes takes 40 to 60
// s.)
inline constexpr Duration kNodeQuarantine = std::chrono::seconds(10);

class PodCollector {
 public:
  // All must outlive this object.
  PodCollector(api::RestClient& client, Executor& executor, const kube::Informer& nodes, const kube::Informer& pods,
               const PodsByNode& index);
  ~PodCollector();

  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  void wait_for(const std::string& node);
  void collect(const std::string& node);

  Executor& executor_;
  const kube::Informer& nodes_;
  const kube::Informer& pods_;
  const PodsByNode& index_;
  std::map<std::string, TimerId> missing_;  // by node
  Writer writer_;
};

}  // namespace berth::cluster
