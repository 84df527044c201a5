// Names of the LeaderWorkerSet API, version leaderworkerset.x-k8s.io/v1.
// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
#pragma once

#include <string_view>

#include "api/rest.h"

namespace berth::api::leaderworkerset {

inline constexpr std::string_view kApiVersion = "leaderworkerset.x-k8s.io/v1";
inline constexpr std::string_view kGroup = "leaderworkerset.x-k8s.io";
inline constexpr std::string_view kKind = "LeaderWorkerSet";
inline const GroupVersionResource kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "v1", "leaderworkersets"};

// Labels of its pods.
inline constexpr std::string_view kSetName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";  // "0" is the leader
inline constexpr std::string_view kRevision = "leaderworkerset.sigs.k8s.io/template-revision-hash";
// Annotations of its pods.
inline constexpr std::string_view kSize = "leaderworkerset.sigs.k8s.io/size";
inline constexpr std::string_view kLeaderName = "leaderworkerset.sigs.k8s.io/leader-name";  // of workers
// An annotation of the set and of its pods.
inline constexpr std::string_view kExclusiveTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology";

}  // namespace berth::api::leaderworkerset
