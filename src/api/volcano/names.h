// Groups, labels and annotations of Volcano.
// https://volcano.sh/en/docs/ (Queue, PodGroup, VolcanoJob)
#pragma once

#include <string_view>

namespace berth::api::volcano {

inline constexpr std::string_view kSchedulingGroup = "scheduling.volcano.sh";  // Queue, PodGroup: v1beta1
inline constexpr std::string_view kSchedulingVersion = "v1beta1";
inline constexpr std::string_view kBatchGroup = "batch.volcano.sh";  // Job: v1alpha1
inline constexpr std::string_view kBatchVersion = "v1alpha1";
inline constexpr std::string_view kBusGroup = "bus.volcano.sh";  // Command: v1alpha1
inline constexpr std::string_view kBusVersion = "v1alpha1";

// Queues that always exist: the root of the tree, and the queue of objects that name none.
inline constexpr std::string_view kRootQueue = "root";
inline constexpr std::string_view kDefaultQueue = "default";

// Annotations of a Queue.
// "true": the queue was closed together with its parent and opens again with it.
inline constexpr std::string_view kClosedByParent = "volcano.sh/closed-by-parent";
inline constexpr std::string_view kHierarchy = "volcano.sh/hierarchy";                 // a path, as "root/a/b"
inline constexpr std::string_view kHierarchyWeights = "volcano.sh/hierarchy-weights";  // as "1/2/3"

// Annotation of a Namespace (the queue for its PodGroups that name none) and of a pod.
inline constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";

// A scheduling gate of a pod that waits for quota of its queue, beyond its group's minimum.
inline constexpr std::string_view kAllocationGate = "scheduling.volcano.sh/queue-allocation-gate";
// Annotation of Berth on a pod, "true": the gate was removed, so the pod counts in its queue before it is bound.
inline constexpr std::string_view kQueueCharged = "berth.dev/queue-charged";

// The resource under which a queue's `allocated` counts pods.
inline constexpr std::string_view kPods = "pods";

}  // namespace berth::api::volcano
