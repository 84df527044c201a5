// Labels and annotations of Kueue on jobs, workloads and pods.
// https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
#pragma once

#include <string_view>

namespace berth::api::kueue {

// Labels.
inline constexpr std::string_view kPriorityClassLabel = "kueue.x-k8s.io/priority-class";
inline constexpr std::string_view kMaxExecTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
inline constexpr std::string_view kPrebuiltWorkload = "kueue.x-k8s.io/prebuilt-workload-name";  // or an annotation

inline constexpr std::string_view kManagedLabel = "kueue.x-k8s.io/managed";  // "true" on objects that Kueue created

// Annotations.
inline constexpr std::string_view kProvisioningPrefix =
    "provreq.kueue.x-k8s.io/";  // on jobs: the rest names a parameter of their ProvisioningRequests
inline constexpr std::string_view kTopologySpreading = "kueue.x-k8s.io/podset-topology-spreading";
inline constexpr std::string_view kAdmissionGatedBy = "kueue.x-k8s.io/admission-gated-by";
inline constexpr std::string_view kPriorityBoost =
    "kueue.x-k8s.io/priority-boost";  // on workloads: added to the priority
inline constexpr std::string_view kWaitForPodsReady = "kueue.x-k8s.io/wait-for-pods-ready";  // ready_times.h
inline constexpr std::string_view kElasticJob = "kueue.x-k8s.io/elastic-job";
inline constexpr std::string_view kSliceReplacementFor = "kueue.x-k8s.io/workload-slice-replacement-for";
inline constexpr std::string_view kJobMinParallelism = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kCompletionsEqualParallelism = "kueue.x-k8s.io/job-completions-equal-parallelism";
inline constexpr std::string_view kRequiredTopology = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kPreferredTopology = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view kUnconstrainedTopology = "kueue.x-k8s.io/podset-unconstrained-topology";
inline constexpr std::string_view kSliceRequiredTopology = "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kSliceSize = "kueue.x-k8s.io/podset-slice-size";
inline constexpr std::string_view kSliceConstraints = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
inline constexpr std::string_view kPodSetGroupName = "kueue.x-k8s.io/podset-group-name";

// Set on the pods of a job at admission.
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
inline constexpr std::string_view kClusterQueueLabel = "kueue.x-k8s.io/cluster-queue-name";
inline constexpr std::string_view kLocalQueueLabel = "kueue.x-k8s.io/local-queue-name";
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
inline constexpr std::string_view kTopologyGate = "kueue.x-k8s.io/topology";  // a scheduling gate
// On a pod: its rank is its index minus this offset.
inline constexpr std::string_view kPodIndexOffset = "kueue.x-k8s.io/pod-index-offset";

// spec.controllerName of admission checks that use ProvisioningRequests.
inline constexpr std::string_view kProvisioningController = "kueue.x-k8s.io/provisioning-request";
// spec.controllerName of admission checks that send workloads to other clusters, and spec.managedBy of their jobs.
inline constexpr std::string_view kMultiKueueController = "kueue.x-k8s.io/multikueue";

// The LocalQueue (per namespace) and WorkloadPriorityClass with this name are the defaults for jobs that name none.
inline constexpr std::string_view kDefaultName = "default";

}  // namespace berth::api::kueue
