#include "controller/cluster.h"

#include "api/resources.h"
#include "jobs/pods/stateful_set.h"

namespace berth::controller {

Cluster::Cluster(Shell& s)
    : cluster_queues(s.client, s.executor, api::kClusterQueues, s.informer_options(), api::kueue::decode_cluster_queue,
                     &s.unreadable),
      local_queues(s.client, s.executor, api::kLocalQueues, s.informer_options(), api::kueue::decode_local_queue,
                   &s.unreadable),
      cohorts(s.client, s.executor, api::kCohorts, s.informer_options(), api::kueue::decode_cohort, &s.unreadable),
      flavors(s.client, s.executor, api::kResourceFlavors, s.informer_options(false),
              api::kueue::decode_resource_flavor, &s.unreadable),
      topologies(s.client, s.executor, api::kTopologies, s.informer_options(false), api::kueue::decode_topology,
                 &s.unreadable),
      checks(s.client, s.executor, api::kAdmissionChecks, s.informer_options(), api::kueue::decode_admission_check,
             &s.unreadable),
      workload_priority_classes(s.client, s.executor, api::kWorkloadPriorityClasses, s.informer_options()),
      namespaces(s.client, s.executor, api::kNamespaces, s.informer_options()),
      nodes(s.client, s.executor, api::kNodes, s.informer_options(false), api::decode_node),
      pods(s.client, s.executor, api::kPods, s.informer_options(false)),
      limit_ranges(s.client, s.executor, api::kLimitRanges, s.informer_options(false)),
      runtime_classes(s.client, s.executor, api::kRuntimeClasses, s.informer_options(false)),
      priority_classes(s.client, s.executor, api::kPriorityClasses, s.informer_options()),
      workloads(s.client, s.executor, api::kWorkloads, s.informer_options(false)),
      jobs(s.client, s.executor, api::kJobs, s.informer_options()),
      stateful_sets(s.client, s.executor, jobs::stateful_set_kind().resource, s.informer_options()) {}

std::vector<kube::Informer*> Cluster::before_workloads() {
  return {&namespaces,
          &limit_ranges,
          &runtime_classes,
          &flavors.informer(),
          &topologies.informer(),
          &nodes.informer(),
          &pods,
          &checks.informer(),
          &cohorts.informer(),
          &cluster_queues.informer(),
          &local_queues.informer(),
          &workload_priority_classes,
          &priority_classes,
          &jobs};
}

}  // namespace berth::controller
