// The caches of resources that every cluster serves: queues and what they refer to, nodes, pods, workloads and jobs.
#pragma once

#include <vector>

#include "api/core/node.h"
#include "api/kueue/types.h"
#include "controller/shell.h"
#include "kube/informer.h"
#include "kube/typed_informer.h"

namespace berth::controller {

// Objects are kept as JSON only where their content is needed as such: statuses are compared with it, and webhooks and
// job adapters read it.
struct Cluster {
  explicit Cluster(Shell& shell);
  // Queues, and the objects that they refer to, are started before workloads, so that the queue of a workload is known
  // when the workload is first seen. Without stateful_sets, which not every controller reads.
  std::vector<kube::Informer*> before_workloads();

  kube::TypedInformer<api::kueue::ClusterQueue> cluster_queues;
  kube::TypedInformer<api::kueue::LocalQueue> local_queues;
  kube::TypedInformer<api::kueue::Cohort> cohorts;
  kube::TypedInformer<api::kueue::ResourceFlavor> flavors;
  kube::TypedInformer<api::kueue::Topology> topologies;
  kube::TypedInformer<api::kueue::AdmissionCheck> checks;
  kube::Informer workload_priority_classes, namespaces;
  kube::TypedInformer<api::Node> nodes;
  kube::Informer pods, limit_ranges, runtime_classes, priority_classes, workloads, jobs, stateful_sets;
};

}  // namespace berth::controller
