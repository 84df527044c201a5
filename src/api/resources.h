// The resources that Berth reads and writes.
#pragma once

#include "api/rest.h"

namespace berth::api {

// Kubernetes.
inline const GroupVersionResource kApiServices{"apiregistration.k8s.io", "v1", "apiservices"};
inline const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};
inline const GroupVersionResource kCustomResourceDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
inline const GroupVersionResource kEvents{"events.k8s.io", "v1", "events"};
inline const GroupVersionResource kJobs{"batch", "v1", "jobs"};
inline const GroupVersionResource kLeases{"coordination.k8s.io", "v1", "leases"};
inline const GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
inline const GroupVersionResource kMutatingWebhookConfigurations{"admissionregistration.k8s.io", "v1",
                                                                 "mutatingwebhookconfigurations"};
inline const GroupVersionResource kNamespaces{"", "v1", "namespaces"};
inline const GroupVersionResource kNodes{"", "v1", "nodes"};
inline const GroupVersionResource kPodTemplates{"", "v1", "podtemplates"};
inline const GroupVersionResource kPods{"", "v1", "pods"};
inline const GroupVersionResource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses"};
inline const GroupVersionResource kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};
inline const GroupVersionResource kDeviceClasses{"resource.k8s.io", "v1", "deviceclasses"};
inline const GroupVersionResource kResourceClaims{"resource.k8s.io", "v1", "resourceclaims"};
inline const GroupVersionResource kResourceClaimTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates"};
inline const GroupVersionResource kResourceSlices{"resource.k8s.io", "v1", "resourceslices"};
inline const GroupVersionResource kSecrets{"", "v1", "secrets"};
inline const GroupVersionResource kServiceAccounts{"", "v1", "serviceaccounts"};
inline const GroupVersionResource kSubjectAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews"};
inline const GroupVersionResource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews"};
inline const GroupVersionResource kValidatingWebhookConfigurations{"admissionregistration.k8s.io", "v1",
                                                                   "validatingwebhookconfigurations"};

// Kueue and the cluster autoscaler.
inline const GroupVersionResource kAdmissionChecks{"kueue.x-k8s.io", "v1beta2", "admissionchecks"};
inline const GroupVersionResource kClusterQueues{"kueue.x-k8s.io", "v1beta2", "clusterqueues"};
inline const GroupVersionResource kCohorts{"kueue.x-k8s.io", "v1beta2", "cohorts"};
inline const GroupVersionResource kLocalQueues{"kueue.x-k8s.io", "v1beta2", "localqueues"};
inline const GroupVersionResource kMultiKueueClusters{"kueue.x-k8s.io", "v1beta2", "multikueueclusters"};
inline const GroupVersionResource kMultiKueueConfigs{"kueue.x-k8s.io", "v1beta2", "multikueueconfigs"};
inline const GroupVersionResource kProvisioningRequestConfigs{"kueue.x-k8s.io", "v1beta2",
                                                              "provisioningrequestconfigs"};
inline const GroupVersionResource kProvisioningRequests{"autoscaling.x-k8s.io", "v1", "provisioningrequests"};
inline const GroupVersionResource kResourceFlavors{"kueue.x-k8s.io", "v1beta2", "resourceflavors"};
inline const GroupVersionResource kTopologies{"kueue.x-k8s.io", "v1beta2", "topologies"};
inline const GroupVersionResource kWorkloadPriorityClasses{"kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses"};
inline const GroupVersionResource kWorkloads{"kueue.x-k8s.io", "v1beta2", "workloads"};

// Volcano.
inline const GroupVersionResource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups"};
inline const GroupVersionResource kVolcanoCommands{"bus.volcano.sh", "v1alpha1", "commands"};
inline const GroupVersionResource kVolcanoJobs{"batch.volcano.sh", "v1alpha1", "jobs"};
inline const GroupVersionResource kVolcanoQueues{"scheduling.volcano.sh", "v1beta1", "queues"};

}  // namespace berth::api
