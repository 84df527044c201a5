#include "jobs/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "api/kueue/names.h"
#include "jobs/same_template.h"
#include "jobs/workload_name.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

struct Priority {
  std::int32_t value = 0;
  std::optional<PriorityClassRef> ref;
};

std::string_view label(const Json& job, std::string_view key) { return string_at(job, {"metadata", "labels", key}); }

bool reserved(const Workload& w) { return api::is_true(w.status.conditions, kQuotaReserved); }

bool contains(const std::vector<std::string>& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

std::optional<std::int32_t> maximum_execution_time(const Json& job) {
  const auto text = label(job, kMaxExecTimeLabel);
  std::int32_t seconds = 0;
  const bool number = std::from_chars(text.data(), text.data() + text.size(), seconds).ec == std::errc{};
  return number && seconds > 0 ? std::optional(seconds) : std::nullopt;
}

// How many pods of the pod set the running job asks for. Only partial admission changes that number: an assignment is
// also smaller when pods had succeeded before it, and the job still asks for those.
std::int32_t running_count(const Workload& w, const PodSet& pod_set) {
  if (!pod_set.min_count || !w.status.admission) return pod_set.count;
  const auto& assignments = w.status.admission->pod_set_assignments;
  const auto it = std::ranges::find(assignments, pod_set.name, &PodSetAssignment::name);
  return it == assignments.end() ? pod_set.count : it->count;
}

// The priority of the class that the label names. Fails when the class does not exist.
Result<Priority> priority_of_class(std::string_view name, const JobFacts& facts) {
  const auto value = facts.workload_priority_class(name);
  if (!value) return fail(class_not_found(name));
  return Priority{*value, PriorityClassRef{std::string(kGroup), "WorkloadPriorityClass", std::string(name)}};
}

Result<Priority> resolve_priority(const Json& job, const std::string& pod_class, const JobFacts& facts) {
  if (const auto name = label(job, kPriorityClassLabel); !name.empty()) return priority_of_class(name, facts);
  if (!pod_class.empty()) {
    if (const auto value = facts.priority_class(pod_class))
      return Priority{*value, PriorityClassRef{"scheduling.k8s.io", "PriorityClass", pod_class}};
  }
  if (const auto fallback = facts.global_default_priority_class())
    return Priority{fallback->second, PriorityClassRef{"scheduling.k8s.io", "PriorityClass", fallback->first}};
  return Priority{};
}

bool is_made_of_pods(const Workload& w) {
  return std::ranges::any_of(w.meta.owners, [](const auto& owner) { return owner.kind == "Pod"; });
}

// The value of a class that changed, or was deleted and made anew, after the workload got its priority from it;
// nullopt: it did not. Pods keep the priority with which they are created, so only a workload whose pods are yet to
// come follows their class.
std::optional<std::int32_t> new_value_of_class(const Workload& w, const JobFacts& facts) {
  if (!w.priority_class_ref || !facts.class_had || !facts.class_had(*w.priority_class_ref, w.priority))
    return std::nullopt;
  const std::string& name = w.priority_class_ref->name;
  const bool of_workloads = w.priority_class_ref->group == kGroup;
  if (!of_workloads && (reserved(w) || is_made_of_pods(w))) return std::nullopt;
  const auto value = of_workloads ? facts.workload_priority_class(name) : facts.priority_class(name);
  return value && *value != w.priority ? value : std::nullopt;
}

}  // namespace

std::string class_not_found(std::string_view name) {
  return "WorkloadPriorityClass \"" + std::string(name) + "\" not found";
}

std::string workload_name_of(const JobAdapter& adapter, const Json& job, bool is_short) {
  return workload_name(adapter.kind().resource.group, adapter.kind().kind, string_at(job, {"metadata", "name"}),
                       string_at(job, {"metadata", "uid"}), is_short);
}

bool is_workload_name_of(const JobAdapter& adapter, const Json& job, std::string_view name) {
  return name == workload_name_of(adapter, job, false) || name == workload_name_of(adapter, job, true);
}

Result<Workload> compose(Draft draft, const JobFacts& facts) {
  auto priority = resolve_priority(draft.object, draft.pod_priority_class, facts);
  if (!priority) return tl::unexpected(priority.error());
  const api::ObjectMeta meta = api::decode_meta(draft.object);
  Workload w;
  w.meta.name = std::move(draft.name);
  w.meta.ns = meta.ns;
  for (const auto& key : facts.label_keys_to_copy) {
    if (const auto it = meta.labels.find(key); it != meta.labels.end()) w.meta.labels.emplace(key, it->second);
  }
  w.meta.finalizers.emplace_back(kFinalizer);
  w.meta.owners = std::move(draft.owners);
  for (const auto& [key, value] : meta.annotations) {
    if (key.starts_with(kProvisioningPrefix) || key == kAdmissionGatedBy ||
        (key == kWaitForPodsReady && facts.gates.ready_times) || contains(facts.annotation_keys_to_copy, key))
      w.meta.annotations.emplace(key, value);
  }
  w.pod_sets = std::move(draft.pod_sets);
  w.queue_name = label(draft.object, kQueueLabel);
  w.priority = priority->value;
  w.priority_class_ref = std::move(priority->ref);
  w.maximum_execution_time_seconds = maximum_execution_time(draft.object);
  return w;
}

std::optional<std::string> unknown_pod_class(const JobAdapter& adapter, const Json& job, const JobFacts& facts) {
  if (!label(job, kPriorityClassLabel).empty()) return std::nullopt;
  const std::string name = adapter.priority_class(job);
  if (name.empty() || facts.priority_class(name)) return std::nullopt;
  return "PriorityClass \"" + name + "\" not found: no pod of the job could be created";
}

Result<Workload> compose_for_job(const JobAdapter& adapter, const Json& job, std::string name, const JobFacts& facts) {
  const std::string uid(string_at(job, {"metadata", "uid"}));
  const std::string owner(string_at(job, {"metadata", "name"}));
  auto made = compose({std::move(name),
                       job,
                       adapter.pod_sets(job),
                       adapter.priority_class(job),
                       {{adapter.kind().api_version(), adapter.kind().kind, owner, uid, true, true}}},
                      facts);
  if (made) made->meta.labels.insert_or_assign(std::string(kJobUidLabel), uid);
  return made;
}

Result<Json> make_workload(const JobAdapter& adapter, const Json& job, const JobFacts& facts) {
  auto made = compose_for_job(adapter, job, workload_name_of(adapter, job, facts.gates.short_names), facts);
  if (!made) return tl::unexpected(made.error());
  return encode_workload(*made);
}

bool is_controlled_by(const Workload& workload, std::string_view uid) {
  return std::ranges::any_of(workload.meta.owners,
                             [&](const auto& owner) { return owner.controller && owner.uid == uid; });
}

Json take_ownership(const api::OwnerReference& job, const Workload& workload) {
  api::ObjectMeta meta;
  for (const auto& owner : workload.meta.owners) {
    if (owner.uid != job.uid) meta.owners.push_back(owner);
  }
  meta.owners.push_back(job);
  meta.labels.emplace(kJobUidLabel, job.uid);
  return JsonObject{{"metadata", api::encode_meta(meta)}};
}

namespace {

// The template of a slice that was made from a running job shows the admission of that time.
std::string difference_of(const Json& is, const Json& wanted, bool untouched) {
  if (!untouched || !carries_admission(wanted)) return template_difference(is, wanted, untouched);
  Json clean = wanted;
  strip_admission(clean);
  return template_difference(is, clean, untouched);
}

}  // namespace

std::string mismatch(const Workload& workload, const std::vector<PodSet>& pod_sets, const Json& job, bool running,
                     bool by_hand) {
  if (workload.maximum_execution_time_seconds != maximum_execution_time(job)) return "the maximum execution time";
  if (pod_sets.size() != workload.pod_sets.size())
    return fmt::format("the number of pod sets: {} and {}", pod_sets.size(), workload.pod_sets.size());
  const bool untouched = !running && !reserved(workload);  // nothing was added for admission
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const PodSet& is = pod_sets[i];
    const PodSet& wanted = workload.pod_sets[i];
    const std::int32_t count = running ? running_count(workload, wanted) : wanted.count;
    if (is.name != wanted.name) return fmt::format("the name of pod set {}: {} and {}", i, is.name, wanted.name);
    if (is.count != count) return fmt::format("the number of pods of pod set {}: {} and {}", is.name, is.count, count);
    if (is.min_count != wanted.min_count) return "the minimum of pods of pod set " + is.name;
    if (untouched && !by_hand && is.topology_request != wanted.topology_request)
      return "the topology request of pod set " + is.name;
    const std::string difference = difference_of(*is.template_, *wanted.template_, untouched);
    if (!difference.empty()) return fmt::format("the template of pod set {}: {}", is.name, difference);
  }
  return "";
}

Json redescribe(const std::vector<PodSet>& pod_sets, const Json& job) {
  Workload w;
  w.pod_sets = pod_sets;
  const auto seconds = maximum_execution_time(job);
  const Json encoded = encode_workload(w);
  return JsonObject{{"spec", JsonObject{{"podSets", *find_path(encoded, {"spec", "podSets"})},
                                        {"maximumExecutionTimeSeconds", seconds ? Json(*seconds) : Json(nullptr)}}}};
}

namespace {

// The annotation of a job that waits may change.
void follow_ready_times(const Json& job, const Workload& w, Drift& drift) {
  const auto wanted = string_at(job, {"metadata", "annotations", kWaitForPodsReady});
  const auto found = w.meta.annotations.find(kWaitForPodsReady);
  const std::string_view present = found == w.meta.annotations.end() ? std::string_view() : found->second;
  if (wanted == present || reserved(w)) return;
  ensure_path(drift.patch, {"metadata", "annotations", kWaitForPodsReady}) =
      wanted.empty() ? Json(nullptr) : Json(wanted);
  drift.notes.push_back("Updated workload times for pods to be ready: " + api::object_key(w.meta));
}

}  // namespace

Drift drift_of(const Json& job, const Workload& w, const JobFacts& facts) {
  Drift drift{JsonObject(), {}, {}};
  if (const auto queue = label(job, kQueueLabel); !reserved(w) && queue != w.queue_name)
    ensure_path(drift.patch, {"spec", "queueName"}) = queue;
  const auto class_name = label(job, kPriorityClassLabel);
  const bool of_workloads = w.priority_class_ref && w.priority_class_ref->group == kGroup;
  const bool has_class = of_workloads && w.priority_class_ref->name == class_name;
  // While a workload holds quota, its WorkloadPriorityClass may change to another one, but the kind of its class may
  // not change.
  if (!class_name.empty() && !has_class && (of_workloads || !reserved(w))) {
    if (const auto priority = priority_of_class(class_name, facts)) {
      ensure_path(drift.patch, {"spec", "priority"}) = priority->value;
      ensure_path(drift.patch, {"spec", "priorityClassRef"}) =
          JsonObject{{"group", priority->ref->group}, {"kind", priority->ref->kind}, {"name", priority->ref->name}};
      drift.notes.push_back("Updated workload priority class: " + api::object_key(w.meta));
    } else {
      drift.missing_class = class_name;
    }
  } else if (const auto value = new_value_of_class(w, facts)) {
    ensure_path(drift.patch, {"spec", "priority"}) = *value;
    drift.notes.push_back("Updated workload priority class: " + api::object_key(w.meta));
  }
  const auto gates = string_at(job, {"metadata", "annotations", kAdmissionGatedBy});
  const auto present = w.meta.annotations.find(kAdmissionGatedBy);
  if (present != w.meta.annotations.end() && present->second != gates) {
    Json& value = ensure_path(drift.patch, {"metadata", "annotations", kAdmissionGatedBy});
    if (!gates.empty()) value = gates;  // otherwise null, which removes it
    drift.notes.push_back("Updated workload AdmissionGatedBy to \"" + std::string(gates) + "\"");
  }
  if (facts.gates.ready_times) follow_ready_times(job, w, drift);
  return drift;
}

}  // namespace berth::jobs
