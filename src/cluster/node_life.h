// What a node's own kubelet and the node lifecycle controller do to Node objects: nodes join, fail, come
// back, and carry the taints of their condition; pods on a node that is not Ready are not ready either.
// https://kubernetes.io/docs/concepts/architecture/nodes/#condition
//
// Nobody sends heartbeats here. A node's Ready condition stays as it was last written, by whomever: a new
// node becomes Ready; the annotation berth.dev/fail on it makes it fail (NotReady: the kubelet says so;
// Unknown: nothing is heard of it), and taking the annotation away brings it back. A status that people patch
// themselves is left as they patched it.
#pragma once

#include "api/core/pod_resources.h"
#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "cluster/pod_writes.h"
#include "cluster/pods_by_node.h"
#include "kube/informer.h"

namespace berth::cluster {

class NodeLife {
 public:
  // All must outlive this. `resources`: what a node gets that names none.
  NodeLife(api::RestClient& client, Executor& executor, const kube::Informer& nodes,
           const kube::Informer& pods, const PodsByNode& index);
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
