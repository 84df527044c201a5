#include "embedded/cluster/apps/replica_set_sync.h"

#include <algorithm>

#include "embedded/cluster/apps/objects.h"

namespace berth::cluster {
namespace {

bool has_labels(const JobPod& pod, const JsonObject& labels) {
  const JsonObject& own = object_at(*pod.object, {"metadata", "labels"});
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const Json* value = own.if_contains(label.key());
    return value != nullptr && json_equal(*value, label.value());
  });
}

std::size_t wanted_pods(const Json& set) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, int_at(set, {"spec", "replicas"}, 1)));
}

// The condition that tells why pods are missing.
JsonArray failure_condition(const ReplicaSetView& view, bool pods_are_missing) {
  if (!pods_are_missing || view.failure.empty()) return {};
  std::string since = format_time(view.now);
  for (const Json& old : array_at(view.set, {"status", "conditions"})) {
    if (string_at(old, {"type"}) == "ReplicaFailure" && string_at(old, {"status"}) == "True")
      since = string_at(old, {"lastTransitionTime"}, since);
  }
  return {JsonObject{{"type", "ReplicaFailure"},
                     {"status", "True"},
                     {"lastTransitionTime", since},
                     {"reason", "FailedCreate"},
                     {"message", view.failure}}};
}

Json replica_set_status(const ReplicaSetView& view, const std::vector<const JobPod*>& active, std::int64_t terminating,
                        std::optional<Time>& wake) {
  const JsonObject& labels = object_at(view.set, {"spec", "template", "metadata", "labels"});
  const std::int64_t min_ready = int_at(view.set, {"spec", "minReadySeconds"});
  std::int64_t labelled = 0, ready = 0, available = 0;
  for (const JobPod* pod : active) {
    labelled += has_labels(*pod, labels) ? 1 : 0;
    ready += pod->ready_since ? 1 : 0;
    available += pod_available(*pod, min_ready, view.now, wake) ? 1 : 0;
  }
  JsonObject status{{"replicas", static_cast<std::int64_t>(active.size())}};
  const auto set = [&](std::string_view key, std::int64_t count) {
    if (count > 0) status[key] = count;
  };
  set("fullyLabeledReplicas", labelled);
  set("readyReplicas", ready);
  set("availableReplicas", available);
  status["terminatingReplicas"] = terminating;
  set("observedGeneration", int_at(view.set, {"metadata", "generation"}));
  if (JsonArray conditions = failure_condition(view, active.size() < wanted_pods(view.set)); !conditions.empty())
    status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace

ReplicaSetStep next_step(const ReplicaSetView& view) {
  ReplicaSetStep step;
  std::vector<const JobPod*> active;
  std::int64_t terminating = 0;
  const bool deleting = find_path(view.set, {"metadata", "deletionTimestamp"}) != nullptr;
  const auto selector = selector_of(view.set);
  for (const JobPod& pod : view.pods) {
    if (!deleting && !pod.deleting && !selects(selector, *pod.object)) {
      step.release.push_back(pod);
    } else if (pod.active()) {
      active.push_back(&pod);
    } else if (pod.terminating()) {
      ++terminating;
    }
  }
  step.status = replica_set_status(view, active, terminating, step.wake);
  if (deleting) return step;
  const std::size_t wanted = wanted_pods(view.set);
  if (active.size() < wanted && view.may_create) {
    // After a failure one pod tries whether creations succeed again.
    step.create = view.failure.empty() ? std::min(wanted - active.size(), kMaxReplicaChanges) : 1;
  } else if (active.size() > wanted) {
    std::sort(active.begin(), active.end(), [](const JobPod* a, const JobPod* b) { return removed_before(*a, *b); });
    active.resize(std::min(active.size() - wanted, kMaxReplicaChanges));
    for (const JobPod* pod : active) step.remove.push_back(*pod);
  }
  return step;
}

}  // namespace berth::cluster
