// The resources that the controller reads and writes.
#pragma once

#include "api/rest.h"

namespace berth::controller {

inline const api::GroupVersionResource kClusterQueues{"kueue.x-k8s.io", "v1beta2", "clusterqueues"};
inline const api::GroupVersionResource kLocalQueues{"kueue.x-k8s.io", "v1beta2", "localqueues"};
inline const api::GroupVersionResource kCohorts{"kueue.x-k8s.io", "v1beta2", "cohorts"};
inline const api::GroupVersionResource kResourceFlavors{"kueue.x-k8s.io", "v1beta2", "resourceflavors"};
inline const api::GroupVersionResource kAdmissionChecks{"kueue.x-k8s.io", "v1beta2", "admissionchecks"};
inline const api::GroupVersionResource kTopologies{"kueue.x-k8s.io", "v1beta2", "topologies"};
inline const api::GroupVersionResource kWorkloads{"kueue.x-k8s.io", "v1beta2", "workloads"};
inline const api::GroupVersionResource kWorkloadPriorityClasses{"kueue.x-k8s.io", "v1beta2",
                                                                "workloadpriorityclasses"};
inline const api::GroupVersionResource kProvisioningRequestConfigs{"kueue.x-k8s.io", "v1beta2",
                                                                   "provisioningrequestconfigs"};
inline const api::GroupVersionResource kPodTemplates{"", "v1", "podtemplates"};
inline const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
inline const api::GroupVersionResource kNodes{"", "v1", "nodes"};
inline const api::GroupVersionResource kPods{"", "v1", "pods"};
inline const api::GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
inline const api::GroupVersionResource kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};
inline const api::GroupVersionResource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses"};
inline const api::GroupVersionResource kJobs{"batch", "v1", "jobs"};
inline const api::GroupVersionResource kVolcanoQueues{"scheduling.volcano.sh", "v1beta1", "queues"};
inline const api::GroupVersionResource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups"};
inline const api::GroupVersionResource kCommands{"bus.volcano.sh", "v1alpha1", "commands"};

}  // namespace berth::controller
