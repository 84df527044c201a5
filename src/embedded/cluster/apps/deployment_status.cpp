#include "embedded/cluster/apps/deployment_status.h"

#include <algorithm>
#include <charconv>

namespace berth::cluster {
namespace {

constexpr std::string_view kAvailable = "Available", kProgressing = "Progressing", kReplicaFailure = "ReplicaFailure";
constexpr std::string_view kComplete = "NewReplicaSetAvailable", kStuck = "ProgressDeadlineExceeded";

// A number, or a percentage of `total`.
std::int64_t resolve_share(const Json* share, std::int64_t total, bool round_up, std::int64_t otherwise) {
  if (share == nullptr) return otherwise;
  if (share->is_int64()) return std::max<std::int64_t>(0, share->get_int64());
  if (!share->is_string()) return otherwise;
  const std::string_view text = view(share->get_string());
  std::int64_t percent = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (read.ec != std::errc() || percent < 0) return otherwise;
  constexpr std::int64_t kMostPercent = 1'000'000'000;  // keeps the product in range
  return (std::min(percent, kMostPercent) * total + (round_up ? 99 : 0)) / 100;
}

// Conditions of a Deployment, written down with their times.
class Conditions {
 public:
  Conditions(const Json& deployment, Time now)
      : list_(array_at(deployment, {"status", "conditions"})), now_(format_time(now)) {}

  const Json* get(std::string_view type) const {
    for (const Json& condition : list_) {
      if (string_at(condition, {"type"}) == type) return &condition;
    }
    return nullptr;
  }
  std::string_view reason(std::string_view type) const {
    const Json* condition = get(type);
    return condition == nullptr ? std::string_view() : string_at(*condition, {"reason"});
  }
  // `touch`: the condition counts as checked now also when nothing changes.
  void set(std::string_view type, std::string_view status, std::string_view reason, std::string message,
           bool touch = false) {
    Json next = JsonObject{{"type", type},           {"status", status},
                           {"lastUpdateTime", now_}, {"lastTransitionTime", now_},
                           {"reason", reason},       {"message", std::move(message)}};
    for (Json& condition : list_) {
      if (string_at(condition, {"type"}) != type) continue;
      const bool same_status = string_at(condition, {"status"}) == status;
      if (same_status && string_at(condition, {"reason"}) == reason && !touch) return;
      if (same_status) ensure_path(next, {"lastTransitionTime"}) = string_at(condition, {"lastTransitionTime"});
      condition = std::move(next);
      return;
    }
    list_.push_back(std::move(next));
  }
  void remove(std::string_view type) {
    JsonArray kept;
    for (Json& condition : list_) {
      if (string_at(condition, {"type"}) != type) kept.push_back(std::move(condition));
    }
    list_ = std::move(kept);
  }
  JsonArray take() { return std::move(list_); }

 private:
  JsonArray list_;
  std::string now_;
};

std::string quoted_set(const DeployedSet& set) { return "ReplicaSet \"" + set.name + "\""; }

bool progressed(const Json& now, const Json& before) {
  const auto count = [](const Json& status, std::string_view key) { return int_at(status, {key}); };
  const auto old_pods = [&](const Json& status) {
    return count(status, "replicas") - count(status, "updatedReplicas");
  };
  return count(now, "updatedReplicas") > count(before, "updatedReplicas") || old_pods(now) < old_pods(before) ||
         count(now, "readyReplicas") > count(before, "readyReplicas") ||
         count(now, "availableReplicas") > count(before, "availableReplicas");
}

// The end of the time that the Deployment has to make progress.
std::optional<Time> progress_deadline(const Json& deployment, const Conditions& conditions) {
  const auto seconds = optional_int_at(deployment, {"spec", "progressDeadlineSeconds"});
  const Json* condition = conditions.get(kProgressing);
  if (!seconds || condition == nullptr) return std::nullopt;
  const auto since = parse_time(string_at(*condition, {"lastUpdateTime"}));
  if (!since) return std::nullopt;
  return *since + std::chrono::seconds(*seconds);
}

void set_progressing(const DeploymentView& view, const DeployedSet* newest, const Json& status, Conditions& conditions,
                     std::optional<Time>& wake) {
  if (!view.failure.empty() && newest == nullptr) {
    return conditions.set(kProgressing, "False", "ReplicaSetCreateError",
                          "Failed to create new replica set: " + view.failure);
  }
  if (newest == nullptr || !optional_int_at(view.deployment, {"spec", "progressDeadlineSeconds"})) return;
  const Json* old = conditions.get(kProgressing);
  const bool about_it =
      old != nullptr && string_at(*old, {"message"}).find("\"" + newest->name + "\"") != std::string_view::npos;
  if (deployment_complete(view.deployment, status)) {
    return conditions.set(kProgressing, "True", kComplete, quoted_set(*newest) + " has successfully progressed.",
                          !about_it);
  }
  // A Deployment that was complete has no deadline for pods that are lost later.
  const bool rolled_out = int_at(status, {"replicas"}) == int_at(status, {"updatedReplicas"});
  if (about_it && rolled_out && conditions.reason(kProgressing) == kComplete) return;
  if (!about_it) {
    conditions.set(kProgressing, "True", "NewReplicaSetCreated", "Created new replica set \"" + newest->name + "\"",
                   true);
  } else if (const Json* before = find(view.deployment, "status"); before != nullptr && progressed(status, *before)) {
    conditions.set(kProgressing, "True", "ReplicaSetUpdated", quoted_set(*newest) + " is progressing.", true);
  }
  if (conditions.reason(kProgressing) == kStuck) return;
  const auto deadline = progress_deadline(view.deployment, conditions);
  if (!deadline) return;
  if (*deadline <= view.now) {
    conditions.set(kProgressing, "False", kStuck, quoted_set(*newest) + " has timed out progressing.");
  } else {
    wake = wake ? std::min(*wake, *deadline) : *deadline;
  }
}

void set_paused(const Json& deployment, Conditions& conditions) {
  const bool paused = bool_at(deployment, {"spec", "paused"});
  const std::string_view reason = conditions.reason(kProgressing);
  if (paused && reason != kStuck) conditions.set(kProgressing, "Unknown", "DeploymentPaused", "Deployment is paused");
  if (!paused && reason == "DeploymentPaused")
    conditions.set(kProgressing, "Unknown", "DeploymentResumed", "Deployment is resumed");
}

void set_replica_failure(const DeploymentView& view, const DeployedSet* newest, Conditions& conditions) {
  const auto failing = [](const DeployedSet& set) -> const Json* {
    for (const Json& condition : array_at(*set.object, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) == kReplicaFailure && string_at(condition, {"status"}) == "True")
        return &condition;
    }
    return nullptr;
  };
  const Json* failure = newest == nullptr ? nullptr : failing(*newest);
  for (const DeployedSet& set : view.sets) {
    if (failure == nullptr) failure = failing(set);
  }
  if (failure == nullptr) return conditions.remove(kReplicaFailure);
  conditions.set(kReplicaFailure, "True", string_at(*failure, {"reason"}),
                 std::string(string_at(*failure, {"message"})));
}

}  // namespace

RollingBounds rolling_bounds(const Json& deployment) {
  if (string_at(deployment, {"spec", "strategy", "type"}) != "RollingUpdate") return {};
  const std::int64_t wanted = int_at(deployment, {"spec", "replicas"}, 1);
  const auto share = [&](std::string_view key) {
    return find_path(deployment, {"spec", "strategy", "rollingUpdate", key});
  };
  RollingBounds bounds;
  bounds.surge = resolve_share(share("maxSurge"), wanted, true, 1);
  bounds.unavailable = std::min(wanted, resolve_share(share("maxUnavailable"), wanted, false, 0));
  if (bounds.surge == 0 && bounds.unavailable == 0) bounds.unavailable = std::min<std::int64_t>(1, wanted);
  return bounds;
}

bool deployment_complete(const Json& deployment, const Json& status) {
  const std::int64_t wanted = int_at(deployment, {"spec", "replicas"}, 1);
  return int_at(status, {"updatedReplicas"}) == wanted && int_at(status, {"replicas"}) == wanted &&
         int_at(status, {"availableReplicas"}) == wanted;
}

Json deployment_status(const DeploymentView& view, const DeployedSet* newest, std::optional<Time>& wake) {
  const Json& deployment = view.deployment;
  std::int64_t wanted = 0, replicas = 0, ready = 0, available = 0, terminating = 0;
  for (const DeployedSet& set : view.sets) {
    wanted += set.wanted;
    replicas += set.replicas;
    ready += set.ready;
    available += set.available;
    terminating += set.terminating;
  }
  JsonObject status;
  const auto set = [&](std::string_view key, std::int64_t count) {
    if (count > 0) status[key] = count;
  };
  set("observedGeneration", int_at(deployment, {"metadata", "generation"}));
  set("replicas", replicas);
  set("updatedReplicas", newest == nullptr ? 0 : newest->replicas);
  set("readyReplicas", ready);
  set("availableReplicas", available);
  set("unavailableReplicas", wanted - available);
  status["terminatingReplicas"] = terminating;
  if (const Json* collisions = find_path(deployment, {"status", "collisionCount"}))
    status["collisionCount"] = *collisions;
  Json out = std::move(status);

  Conditions conditions(deployment, view.now);
  const bool enough = available >= int_at(deployment, {"spec", "replicas"}, 1) - rolling_bounds(deployment).unavailable;
  conditions.set(kAvailable, enough ? "True" : "False",
                 enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                 enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.");
  set_paused(deployment, conditions);
  if (!bool_at(deployment, {"spec", "paused"})) set_progressing(view, newest, out, conditions, wake);
  set_replica_failure(view, newest, conditions);
  ensure_path(out, {"conditions"}) = conditions.take();
  return out;
}

}  // namespace berth::cluster
