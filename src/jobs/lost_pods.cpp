#include "jobs/lost_pods.h"

#include <algorithm>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/kueue/pod_names.h"
#include "api/object_condition.h"
#include "jobs/placed_pods.h"

namespace berth::jobs {
namespace {

constexpr std::string_view kFailureRecovery = "KueueFailureRecovery";
constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";

}  // namespace

bool was_failed_by_force(const Json& pod) { return api::object_condition_is_true(pod, kFailureRecovery); }

std::optional<Time> forceful_deletion_due(const Json& pod) {
  if (string_at(pod, {"metadata", "annotations", api::kueue::kSafeToForcefullyDelete}) != "true") return std::nullopt;
  if (string_at(pod, {"spec", "nodeName"}).empty()) return std::nullopt;
  // The deletion timestamp is the end of the grace period.
  const auto deletion = parse_time(string_at(pod, {"metadata", "deletionTimestamp"}));
  if (!deletion) return std::nullopt;
  // A deletion without grace period is by force: finalizers keep the pod now.
  const bool by_force = find_path(pod, {"metadata", "deletionGracePeriodSeconds"}) != nullptr &&
                        int_at(pod, {"metadata", "deletionGracePeriodSeconds"}) == 0;
  if (api::pod_ended(pod) && (by_force || !was_failed_by_force(pod))) return std::nullopt;
  return *deletion + kForcefulDeletionDelay;
}

bool is_unreachable(const api::Node& node) {
  return std::ranges::find(node.taints, kUnreachableTaint, &api::Taint::key) != node.taints.end();
}

std::string forceful_deletion_message(const Json& pod) {
  return "Deleted by force: the pod was still terminating after its grace period, and its node \"" +
         std::string(string_at(pod, {"spec", "nodeName"})) + "\" is unreachable";
}

Json failed_by_force(const Json& pod, Time now) {
  JsonArray conditions;
  for (const Json& one : array_at(pod, {"status", "conditions"})) {
    if (string_at(one, {"type"}) != kFailureRecovery) conditions.push_back(one);
  }
  conditions.push_back(JsonObject{{"type", kFailureRecovery},
                                  {"status", "True"},
                                  {"reason", kForcefullyDeleted},
                                  {"message", forceful_deletion_message(pod)},
                                  {"lastTransitionTime", format_time(now)}});
  return JsonObject{{"phase", "Failed"}, {"conditions", std::move(conditions)}};
}

}  // namespace berth::jobs
