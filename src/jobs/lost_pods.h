// Pods that are being deleted on a node that nobody can reach: their kubelet never confirms that they ended. Those
// whose owner agrees are failed and deleted by force. Pure.
// https://github.com/kubernetes-sigs/kueue/tree/main/keps/6757-kueue-failure-recovery-policy
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "api/core/node.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::jobs {

// How long a pod may need after its grace period, before it is deleted by force.
inline constexpr Duration kForcefulDeletionDelay = std::chrono::minutes(1);

// When the pod may be deleted by force if its node cannot be reached; nullopt when it may not: it is not being deleted,
// has no node, ended by itself, or its annotation kueue.x-k8s.io/safe-to-forcefully-delete is not "true".
std::optional<Time> forceful_deletion_due(const Json& pod);

// Whether the node has the taint node.kubernetes.io/unreachable.
bool is_unreachable(const api::Node& node);

// Whether failed_by_force() was stored, so that only the deletion is missing.
bool was_failed_by_force(const Json& pod);
// .status of the pod: phase Failed, and the condition KueueFailureRecovery.
Json failed_by_force(const Json& pod, Time now);
std::string forceful_deletion_message(const Json& pod);

inline constexpr std::string_view kForcefullyDeleted = "KueueForcefullyDeleted";  // reason of condition and event

}  // namespace berth::jobs
