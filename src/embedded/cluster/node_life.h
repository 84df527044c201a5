// The parts of a node's kubelet and of the node controllers that write Node objects: nodes join, fail and recover,
// and get the taints of their conditions. Pods on a node that is not Ready are not Ready either.
// https://kubernetes.io/docs/concepts/architecture/nodes/#condition
//
// There are no heartbeats. The Ready condition of a node stays as it was last written, by any client. A new node
// becomes Ready. The annotation berth.dev/fail makes a node fail (NotReady: the kubelet reports it; Unknown: the
// kubelet is silent), and removing the annotation makes it Ready again. A status that a user patches stays as it was
// patched.
#pragma once

#include "api/core/pod_resources.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/cluster/pods_by_node.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

class NodeLife {
 public:
  // All must outlive this object.
  NodeLife(api::RestClient& client, Executor& executor, const kube::Informer& nodes, const kube::Informer& pods,
           const PodsByNode& index);
  // For nodes that name no resources.
  void set_resources(api::ResourceList resources) { resources_ = std::move(resources); }

  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  void look_at(const Json& node);
  void patch_node(const Json& node, Json body, std::string_view subresource);
  void mark_not_ready(const Json& pod);

  Executor& executor_;
  const kube::Informer& nodes_;
  const kube::Informer& pods_;
  const PodsByNode& index_;
  api::ResourceList resources_;
  Writer writer_;
};

}  // namespace berth::cluster
