// Labels, annotations, gates and finalizers of Kueue on plain pods and groups of pods.
// https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/
#pragma once

#include <string_view>

namespace berth::api::kueue {

// In integrations.frameworks of the Configuration.
inline constexpr std::string_view kJobFramework = "batch/job";
inline constexpr std::string_view kPodFramework = "pod";
inline constexpr std::string_view kDeploymentFramework = "deployment";
inline constexpr std::string_view kStatefulSetFramework = "statefulset";
inline constexpr std::string_view kLeaderWorkerSetFramework = "leaderworkerset.x-k8s.io/leaderworkerset";

inline constexpr std::string_view kAdmissionGate = "kueue.x-k8s.io/admission";  // a scheduling gate
// A finalizer. The pod also has the label kManagedLabel with the value "true".
inline constexpr std::string_view kPodFinalizer = "kueue.x-k8s.io/managed";

// On pods.
inline constexpr std::string_view kPodGroupName = "kueue.x-k8s.io/pod-group-name";  // a label or an annotation
inline constexpr std::string_view kPodGroupTotalCount = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr std::string_view kPodGroupMaxNotReady = "kueue.x-k8s.io/pod-group-max-not-ready-count";
inline constexpr std::string_view kPodGroupFastAdmission = "kueue.x-k8s.io/pod-group-fast-admission";  // "true"
inline constexpr std::string_view kPodGroupServing = "kueue.x-k8s.io/pod-group-serving";               // "true"
inline constexpr std::string_view kRetriableInGroup = "kueue.x-k8s.io/retriable-in-group";  // "false": no retry
inline constexpr std::string_view kRoleHash = "kueue.x-k8s.io/role-hash";
inline constexpr std::string_view kPodGroupPodIndex = "kueue.x-k8s.io/pod-group-pod-index";  // a label
// An annotation with the name of the label that holds the index of the pod.
inline constexpr std::string_view kPodGroupPodIndexLabel = "kueue.x-k8s.io/pod-group-pod-index-label";
// "true": the pod may be deleted by force when its node cannot be reached.
inline constexpr std::string_view kSafeToForcefullyDelete = "kueue.x-k8s.io/safe-to-forcefully-delete";
// The framework of the owner that made the pod wait. Such a pod has no finalizer.
inline constexpr std::string_view kPodSuspendingParent = "kueue.x-k8s.io/pod-suspending-parent";

// On the workload of a group: "true".
inline constexpr std::string_view kIsGroupWorkload = "kueue.x-k8s.io/is-group-workload";
// On the workload of a group whose pods have an owner: what the owner is ("apps/v1, Kind=StatefulSet"), and its name.
inline constexpr std::string_view kJobOwnerGvk = "kueue.x-k8s.io/job-owner-gvk";
inline constexpr std::string_view kJobOwnerName = "kueue.x-k8s.io/job-owner-name";
// On one of the workloads of an owner that has several: which one it is, counted from 0.
inline constexpr std::string_view kComponentWorkloadIndex = "kueue.x-k8s.io/component-workload-index";

}  // namespace berth::api::kueue
