#include "embedded/cluster/shared/job_spec.h"
#include "api/object_condition.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

namespace berth::cluster {
namespace {

// metadata.generateName is cut to this length, so that a name with five random characters is at most 63 characters
// long.
constexpr std::size_t kMaxGenerateName = 58;

std::optional<std::int64_t> number_in(const Json& pod, std::string_view annotation) {
  const auto text = string_at(pod, {"metadata", "annotations", annotation});
  std::int64_t value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || at != text.data() + text.size()) return std::nullopt;
  return value;
}

// The time when the last container terminated; if it is not known, when the pod became not ready, or when it was
// deleted, or when it was created.
Time finish_time(const Json& pod, Time created) {
  std::optional<Time> latest;
  const auto& statuses = array_at(pod, {"status", "containerStatuses"});
  bool all = !statuses.empty();
  for (const auto& status : statuses) {
    const auto end = api::time_at(status, {"state", "terminated", "finishedAt"});
    if (!end) all = false;
    if (end && (!latest || *end > *latest)) latest = end;
  }
  if (all && latest) return *latest;
  if (const Json* ready = api::object_condition(pod, "Ready");
      ready != nullptr && string_at(*ready, {"status"}) == "False") {
    if (const auto since = api::time_at(*ready, {"lastTransitionTime"})) return *since;
  }
  if (const auto deletion = api::time_at(pod, {"metadata", "deletionTimestamp"})) {
    return *deletion - std::chrono::seconds(int_at(pod, {"metadata", "deletionGracePeriodSeconds"}));
  }
  return created;
}

std::int64_t restarts_of(const Json& pod) {
  std::int64_t out = 0;
  for (std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    for (const auto& status : array_at(pod, {"status", list})) out += int_at(status, {"restartCount"});
  }
  return out;
}

void report_containers_their_index(Json& spec) {
  for (std::string_view list : {"initContainers", "containers"}) {
    Json* containers = spec.is_object() ? spec.get_object().if_contains(list) : nullptr;
    if (containers == nullptr || !containers->is_array()) continue;
    for (auto& container : containers->get_array()) {
      const auto& present = array_at(container, {"env"});
      const bool known = std::any_of(present.begin(), present.end(), [](const Json& variable) {
        return string_at(variable, {"name"}) == "JOB_COMPLETION_INDEX";
      });
      if (known) continue;
      Json& env = ensure_path(container, {"env"});
      if (!env.is_array()) env = JsonArray();
      const std::string path = "metadata.labels['" + std::string(kIndexKey) + "']";
      env.get_array().push_back(
          {{"name", "JOB_COMPLETION_INDEX"}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
    }
  }
}

std::string generate_name(const JobSpec& spec, const NewPod& what) {
  const std::string tail = what.index ? "-" + std::to_string(*what.index) + "-" : "-";
  return spec.name.substr(0, kMaxGenerateName - tail.size()) + tail;
}

}  // namespace

JobSpec::JobSpec(const Json& job)
    : name(string_at(job, {"metadata", "name"})),
      ns(string_at(job, {"metadata", "namespace"})),
      uid(string_at(job, {"metadata", "uid"})) {
  deleting = find_path(job, {"metadata", "deletionTimestamp"}) != nullptr;
  suspended = bool_at(job, {"spec", "suspend"});
  indexed = string_at(job, {"spec", "completionMode"}) == "Indexed";
  ours = string_at(job, {"spec", "managedBy"}, kJobControllerName) == kJobControllerName;
  parallelism = int_at(job, {"spec", "parallelism"}, 1);
  completions = optional_int_at(job, {"spec", "completions"});
  backoff_limit_per_index = optional_int_at(job, {"spec", "backoffLimitPerIndex"});
  backoff_limit =
      int_at(job, {"spec", "backoffLimit"}, backoff_limit_per_index ? std::numeric_limits<std::int32_t>::max() : 6);
  max_failed_indexes = optional_int_at(job, {"spec", "maxFailedIndexes"});
  active_deadline_seconds = optional_int_at(job, {"spec", "activeDeadlineSeconds"});
  ttl_seconds = optional_int_at(job, {"spec", "ttlSecondsAfterFinished"});
  only_replace_failed = string_at(job, {"spec", "podReplacementPolicy"}) == "Failed" ||
                        find_path(job, {"spec", "podFailurePolicy"}) != nullptr;
  restarts_in_place = string_at(job, {"spec", "template", "spec", "restartPolicy"}) == "OnFailure";
}

bool JobSpec::counts_index_of(const JobPod& pod) const { return pod.index && *pod.index < index_limit(); }

JobPod::JobPod(const JsonPtr& pod)
    : object(pod),
      name(string_at(*pod, {"metadata", "name"})),
      uid(string_at(*pod, {"metadata", "uid"})),
      phase(string_at(*pod, {"status", "phase"})) {
  created = api::time_at(*pod, {"metadata", "creationTimestamp"}).value_or(Time{});
  finished = finish_time(*pod, created);
  if (const Json* ready = api::object_condition(*pod, "Ready");
      ready != nullptr && string_at(*ready, {"status"}) == "True") {
    ready_since = api::time_at(*ready, {"lastTransitionTime"}).value_or(Time{});
  }
  restarts = restarts_of(*pod);
  index = number_in(*pod, kIndexKey);
  index_failures = number_in(*pod, kIndexFailures).value_or(0);
  index_ignored_failures = number_in(*pod, kIndexIgnoredFailures).value_or(0);
  bound = !string_at(*pod, {"spec", "nodeName"}).empty();
  deleting = find_path(*pod, {"metadata", "deletionTimestamp"}) != nullptr;
  for (const auto& finalizer : array_at(*pod, {"metadata", "finalizers"})) {
    tracked = tracked || (finalizer.is_string() && view(finalizer.get_string()) == kTrackingFinalizer);
  }
}

bool removed_before(const JobPod& a, const JobPod& b) {
  // The pod with the least progress comes first: unbound, not running, not ready, ready for the shortest time,
  // restarted most often, youngest.
  const auto rank = [](const JobPod& p) {
    const int phase = p.phase == "Pending" ? 0 : p.phase == "Running" ? 2 : 1;
    const auto ready = p.ready_since ? -p.ready_since->time_since_epoch().count() : 0;
    return std::tuple(p.bound, phase, p.ready_since.has_value(), ready, -p.restarts,
                      -p.created.time_since_epoch().count(), std::string_view(p.uid));
  };
  return rank(a) < rank(b);
}

namespace {

// Adds the completion index to a pod of an Indexed Job.
void report_index(Json& meta, Json& pod_spec, const JobSpec& spec, const NewPod& what) {
  const std::string index = std::to_string(*what.index);
  ensure_path(meta, {"labels", kIndexKey}) = index;
  ensure_path(meta, {"annotations", kIndexKey}) = index;
  if (spec.backoff_limit_per_index) {
    ensure_path(meta, {"annotations", kIndexFailures}) = std::to_string(what.failures);
    if (what.ignored_failures > 0) {
      ensure_path(meta, {"annotations", kIndexIgnoredFailures}) = std::to_string(what.ignored_failures);
    }
  }
  ensure_path(pod_spec, {"hostname"}) = spec.name + "-" + index;
  report_containers_their_index(pod_spec);
}

}  // namespace

Json make_pod(const Json& job, const JobSpec& spec, const NewPod& what) {
  // Assembled at the end: adding a member to an object invalidates references into it.
  Json meta = JsonObject(), pod_spec = JsonObject();
  ensure_path(meta, {"generateName"}) = generate_name(spec, what);
  ensure_path(meta, {"namespace"}) = spec.ns;
  for (std::string_view member : {"labels", "annotations"}) {
    if (const auto& given = object_at(job, {"spec", "template", "metadata", member}); !given.empty()) {
      ensure_path(meta, {member}) = given;
    }
  }
  JsonArray finalizers = array_at(job, {"spec", "template", "metadata", "finalizers"});
  finalizers.push_back(Json(kTrackingFinalizer));
  ensure_path(meta, {"finalizers"}) = std::move(finalizers);
  ensure_path(meta, {"ownerReferences"}) = {{{"apiVersion", "batch/v1"},
                                             {"kind", "Job"},
                                             {"name", spec.name},
                                             {"uid", spec.uid},
                                             {"controller", true},
                                             {"blockOwnerDeletion", true}}};
  if (const Json* given = find_path(job, {"spec", "template", "spec"})) pod_spec = *given;
  if (what.index) report_index(meta, pod_spec, spec, what);
  return JsonObject{
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(pod_spec)}};
}

}  // namespace berth::cluster
