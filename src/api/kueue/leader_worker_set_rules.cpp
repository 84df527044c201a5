#include "api/kueue/leader_worker_set_rules.h"

#include <algorithm>
#include <limits>
#include <string>

#include "api/core/pod_amounts.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_shape.h"
#include "api/kueue/serving_rules.h"
#include "api/kueue/topology_annotations.h"
#include "api/kueue/topology_spreading.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

constexpr std::string_view kLeaderWorkerSetKind = "leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet";
constexpr std::string_view kLeaders = "leaderTemplate", kWorkers = "workerTemplate";

const Json* template_named(const Json& set, std::string_view name) {
  const Json* found = find_path(set, {"spec", "leaderWorkerTemplate", name});
  return found != nullptr && found->is_object() ? found : nullptr;
}

std::string path_of(std::string_view name) { return "spec.leaderWorkerTemplate." + std::string(name); }

void let_template_wait(const Json& set, Json& pod_template) {
  for (const auto key : {kQueueLabel, kPriorityClassLabel}) {
    const std::string value(label_of(set, key));
    if (!value.empty()) ensure_path(pod_template, {"metadata", "labels", key}) = value;
  }
  ensure_path(pod_template, {"metadata", "annotations", kPodGroupServing}) = "true";
  ensure_path(pod_template, {"metadata", "annotations", kPodSuspendingParent}) = kLeaderWorkerSetFramework;
}

void check_template_topology(const Json& set, std::string_view name, std::int32_t count, FieldErrors& errors) {
  const Json* pod_template = template_named(set, name);
  if (pod_template == nullptr || count == 0) return;
  check_topology_annotations(object_at(*pod_template, {"metadata", "annotations"}), count,
                             path_of(name) + ".metadata.annotations", errors);
}

void check_topologies(const Json& set, FieldErrors& errors) {
  const std::int32_t leaders = leader_template(set) == nullptr ? 0 : 1;
  check_template_topology(set, kLeaders, leaders, errors);
  check_template_topology(set, kWorkers, group_size(set) - leaders, errors);
}

void check_flags(const Json& set, const Json* old, const JobContext& context, FieldErrors& errors) {
  for (const auto name : {kLeaders, kWorkers}) {
    const Json* pod_template = template_named(set, name);
    const Json* before = old == nullptr ? nullptr : template_named(*old, name);
    if (pod_template == nullptr) continue;
    const JsonObject& annotations = object_at(*pod_template, {"metadata", "annotations"});
    const JsonObject* old_ones = before == nullptr ? nullptr : &object_at(*before, {"metadata", "annotations"});
    const std::string path = path_of(name) + ".metadata.annotations";
    if (context.labels.refuse_false_unconstrained) check_unconstrained_flag(annotations, old_ones, path, errors);
    if (context.labels.check_spreading) check_topology_spreading(annotations, old_ones, path, errors);
  }
}

void check_amounts_of(const Json& set, FieldErrors& errors) {
  for (const auto name : {kLeaders, kWorkers}) {
    const Json* pod_template = template_named(set, name);
    const Json* spec = pod_template == nullptr ? nullptr : find(*pod_template, "spec");
    if (spec != nullptr) check_pod_amounts(*spec, path_of(name) + ".spec", errors);
  }
}

void check_same_template(const Json& set, const Json& old, std::string_view name, FieldErrors& errors) {
  const Json *now = template_named(set, name), *before = template_named(old, name);
  if (now == nullptr && before == nullptr) return;
  const Json* spec = now == nullptr ? nullptr : find_path(*now, {"spec"});
  const Json* old_spec = before == nullptr ? nullptr : find_path(*before, {"spec"});
  if (spec == nullptr || old_spec == nullptr) {
    if (spec != old_spec)
      errors.push_back(invalid_value(path_of(name), now == nullptr ? Json() : *now, kImmutableField));
    return;
  }
  check_same_shape(*spec, *old_spec, path_of(name) + ".spec", errors);
}

}  // namespace

const Json* leader_template(const Json& set) { return template_named(set, kLeaders); }
const Json* worker_template(const Json& set) { return template_named(set, kWorkers); }

std::int32_t group_size(const Json& set) {
  const std::int64_t size = int_at(set, {"spec", "leaderWorkerTemplate", "size"}, 1);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(size, 1, std::numeric_limits<std::int32_t>::max()));
}

void default_leader_worker_set(Json& set, const JobContext& context) {
  if (!take_defaults(set, context)) return;
  const bool leaders = leader_template(set) != nullptr;
  if (leaders) let_template_wait(set, ensure_path(set, {"spec", "leaderWorkerTemplate", kLeaders}));
  if (worker_template(set) == nullptr) return;
  Json& workers = ensure_path(set, {"spec", "leaderWorkerTemplate", kWorkers});
  let_template_wait(set, workers);
  // The workers count from 1 when their leader is in a pod set of its own. In a group of pod sets, leader and workers
  // are ranked together.
  const bool together = !string_at(workers, {"metadata", "annotations", kPodSetGroupName}).empty();
  if (leaders && !together) ensure_path(workers, {"metadata", "annotations", kPodIndexOffset}) = "1";
}

FieldErrors validate_leader_worker_set(const Json& set, const JobContext& context) {
  if (!is_served(context)) return {};
  FieldErrors errors = validate_serving(set, kLeaderWorkerSetKind, context.labels);
  if (!is_managed(set, context)) return errors;
  check_topologies(set, errors);
  check_flags(set, nullptr, context, errors);
  check_amounts_of(set, errors);
  return errors;
}

FieldErrors validate_leader_worker_set_update(const Json& set, const Json& old, const JobContext& context) {
  if (!is_served(context)) return {};
  FieldErrors errors = validate_serving_update(set, old, kLeaderWorkerSetKind, context.labels);
  if (!is_managed(set, context)) return errors;
  check_topologies(set, errors);
  check_flags(set, &old, context, errors);
  if (!is_managed(old, context)) return errors;
  if (group_size(set) != group_size(old))
    errors.push_back(invalid_value(path_of("size"), Json(group_size(set)), kImmutableField));
  check_same_template(set, old, kLeaders, errors);
  check_same_template(set, old, kWorkers, errors);
  return errors;
}

}  // namespace berth::api::kueue
