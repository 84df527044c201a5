#include "api/batch/job_validation.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "api/core/validation.h"
#include "api/kueue/names.h"
#include "api/kueue/topology_annotations.h"
#include "api/kueue/types.h"

namespace berth::api::batch {
namespace {

using namespace kueue;

constexpr std::string_view kImmutable = "field is immutable";
constexpr std::size_t kMaxGateLength = 63;

std::string_view label(const Json& job, std::string_view key) { return string_at(job, {"metadata", "labels", key}); }
std::string_view annotation(const Json& job, std::string_view key) {
  return string_at(job, {"metadata", "annotations", key});
}
std::string label_path(std::string_view key) { return key_path("metadata.labels", key); }
std::string annotation_path(std::string_view key) { return key_path("metadata.annotations", key); }

bool is_suspended(const Json& job) { return bool_at(job, {"spec", "suspend"}); }

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const JsonObject& template_annotations(const Json& job) {
  return object_at(job, {"spec", "template", "metadata", "annotations"});
}

// The largest number of pods that run at the same time.
std::int64_t pod_count(const Json& job) {
  const std::int64_t parallelism = int_at(job, {"spec", "parallelism"}, 1);
  return std::min(parallelism, int_at(job, {"spec", "completions"}, parallelism));
}

void check_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  if (name.empty()) return;
  if (const std::string broken = check_dns_subdomain(name); !broken.empty())
    errors.push_back(invalid_value(path, Json(name), broken));
}

void check_max_exec_time(const Json& job, FieldErrors& errors) {
  const Json* value = find_path(job, {"metadata", "labels", kMaxExecTimeLabel});
  if (!value || !value->is_string()) return;
  const auto seconds = integer(view(value->get_string()));
  if (!seconds || *seconds > INT32_MAX) {
    errors.push_back(invalid_value(label_path(kMaxExecTimeLabel), *value, "must be an integer"));
  } else if (*seconds <= 0) {
    errors.push_back(invalid_value(label_path(kMaxExecTimeLabel), *seconds, "should be greater than 0"));
  }
}

void check_min_parallelism(const Json& job, FieldErrors& errors) {
  const Json* value = find_path(job, {"metadata", "annotations", kJobMinParallelism});
  if (!value || !value->is_string()) return;
  const std::string path = annotation_path(kJobMinParallelism);
  const auto least = integer(view(value->get_string()));
  const std::int64_t most = pod_count(job) - 1;
  if (!least) {
    errors.push_back(invalid_value(path, *value, "must be an integer"));
  } else if (*least <= 0 || *least > most) {
    errors.push_back(invalid_value(path, *least, "should be between 0 and " + std::to_string(most)));
  }
  if (annotation(job, kElasticJob) == "true")
    errors.push_back(invalid_value(path, *value, "partial admission and elastic job cannot be used together"));
}

void check_completions_equal_parallelism(const Json& job, FieldErrors& errors) {
  const Json* value = find_path(job, {"metadata", "annotations", kCompletionsEqualParallelism});
  if (!value || !value->is_string()) return;
  const std::string path = annotation_path(kCompletionsEqualParallelism);
  const std::string_view text = view(value->get_string());
  if (text != "true" && text != "false") {
    errors.push_back(invalid_value(path, *value, "must be true or false"));
    return;
  }
  if (text == "false") return;
  if (string_at(job, {"spec", "completionMode"}) != "Indexed")
    errors.push_back(invalid_value(path, *value, "should not be enabled for NonIndexed jobs"));
  const std::int64_t parallelism = int_at(job, {"spec", "parallelism"}, 1);
  const std::int64_t completions = int_at(job, {"spec", "completions"}, 1);
  if (completions != parallelism)
    errors.push_back(invalid_value(
        "spec.completions", completions,
        "should be equal to parallelism when " + std::string(kCompletionsEqualParallelism) + " annotation is true"));
}

// Splits a list at commas and trims spaces; keeps empty names.
std::vector<std::string_view> gates(std::string_view list) {
  std::vector<std::string_view> names;
  for (bool more = !list.empty(); more;) {
    const std::size_t comma = list.find(',');
    more = comma != std::string_view::npos;
    std::string_view name = list.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    names.push_back(name);
    if (more) list.remove_prefix(comma + 1);
  }
  return names;
}

// A gate must be a domain, a slash and a path.
void check_gate(std::string_view gate, const std::string& path, FieldErrors& errors) {
  static constexpr std::string_view kOfPaths = "/-._~%!$&'()*+,;=:";
  const std::size_t slash = std::min(gate.find('/'), gate.size());
  const std::string_view domain = gate.substr(0, slash), rest = gate.substr(std::min(slash + 1, gate.size()));
  if (gate.size() > kMaxGateLength) {
    errors.push_back(too_long(path, kMaxGateLength));
  } else if (domain.empty() || rest.empty()) {
    errors.push_back(invalid_value(path, Json(gate), "must be a domain-prefixed path (such as \"acme.io/foo\")"));
  } else if (const std::string broken = check_dns_subdomain(domain); !broken.empty()) {
    errors.push_back(invalid_value(path, Json(domain), broken));
  } else if (!std::ranges::all_of(rest, [](unsigned char c) {
               return (c < 128 && std::isalnum(c)) || kOfPaths.find(static_cast<char>(c)) != std::string_view::npos;
             })) {
    errors.push_back(invalid_value(path, Json(rest), "must consist of letters, digits and " + std::string(kOfPaths)));
  }
}

void check_gates(const Json& job, FieldErrors& errors) {
  const std::string path = annotation_path(kAdmissionGatedBy);
  const std::string_view list = annotation(job, kAdmissionGatedBy);
  std::set<std::string_view> seen;
  bool empty = false;  // an empty name is reported once
  for (const std::string_view gate : gates(list)) {
    if (gate.empty()) {
      if (!std::exchange(empty, true))
        errors.push_back(invalid_value(path, Json(list), "cannot contain empty gate names"));
    } else if (!seen.insert(gate).second) {
      errors.push_back(invalid_value(path, Json(list), "duplicate gate name: " + std::string(gate)));
    } else {
      check_gate(gate, path, errors);
    }
  }
}

void check_gates_update(const Json& job, const Json& old, FieldErrors& errors) {
  const auto before = gates(annotation(old, kAdmissionGatedBy));
  const auto now = gates(annotation(job, kAdmissionGatedBy));
  if (std::ranges::all_of(now, [&](const auto gate) { return std::ranges::find(before, gate) != before.end(); }))
    return;
  errors.push_back(
      forbidden_field(annotation_path(kAdmissionGatedBy), before.empty() ? "cannot add admission gate after creation"
                                                                         : "can only remove gates, not add new ones"));
}

// The topology request is in annotations of the pod template.
void check_topology(const Json& job, FieldErrors& errors) {
  check_topology_annotations(template_annotations(job), pod_count(job), "spec.template.metadata.annotations", errors);
}

void check_queue_update(const Json& job, const Json& old, bool default_queue_exists, FieldErrors& errors) {
  const std::string_view now = label(job, kQueueLabel);
  const std::string_view before = label(old, kQueueLabel);
  if (now == before) return;
  const std::string path = label_path(kQueueLabel);
  if (!is_suspended(job)) errors.push_back(invalid_value(path, Json(now), kImmutable));
  if (now.empty() && default_queue_exists)
    errors.push_back(invalid_value(path, Json(now), "queue-name must not be empty in namespace with default queue"));
}

void check_priority_class_update(const Json& job, const Json& old, FieldErrors& errors) {
  const std::string_view now = label(job, kPriorityClassLabel);
  const std::string_view before = label(old, kPriorityClassLabel);
  const std::string path = label_path(kPriorityClassLabel);
  if (!before.empty() && now.empty())
    errors.push_back(invalid_value(path, Json(now), "WorkloadPriorityClass cannot be removed from a workload"));
  if (before.empty() && !now.empty() && !is_suspended(job))
    errors.push_back(
        invalid_value(path, Json(now), "WorkloadPriorityClass cannot be added to a non-suspended workload"));
}

void check_min_parallelism_update(const Json& job, const Json& old, FieldErrors& errors) {
  if (is_suspended(old) || annotation(old, kJobMinParallelism).empty()) return;
  if (is_suspended(job)) return;  // suspension restores the original parallelism
  if (int_at(job, {"spec", "parallelism"}, 1) != int_at(old, {"spec", "parallelism"}, 1))
    errors.push_back(forbidden_field("spec.parallelism",
                                     "cannot change when partial admission is enabled and the job is not suspended"));
}

void check_same(std::string_view now, std::string_view before, const std::string& path, FieldErrors& errors) {
  if (now != before) errors.push_back(invalid_value(path, Json(now), kImmutable));
}

void check_prebuilt_update(const Json& job, const Json& old, bool identifier_annotations, FieldErrors& errors) {
  if (is_suspended(job)) return;
  check_same(label(job, kPrebuiltWorkload), label(old, kPrebuiltWorkload), label_path(kPrebuiltWorkload), errors);
  if (identifier_annotations)
    check_same(annotation(job, kPrebuiltWorkload), annotation(old, kPrebuiltWorkload),
               annotation_path(kPrebuiltWorkload), errors);
}

// Checks only changes of the user: when the job starts, partial admission lowers the parallelism and the template
// gets more annotations.
void check_size_and_places(const Json& job, const Json& old, FieldErrors& errors) {
  const bool waits = is_suspended(job) && is_suspended(old);
  const bool count_edited = waits && pod_count(job) != pod_count(old);
  if (count_edited || annotation(job, kJobMinParallelism) != annotation(old, kJobMinParallelism))
    check_min_parallelism(job, errors);
  const bool template_edited = !json_equal(Json(template_annotations(job)), Json(template_annotations(old)));
  if (count_edited || (waits && template_edited)) check_topology(job, errors);
}

// Checks the queue label, the name of a prebuilt workload and the maximum execution time.
FieldErrors validate_words(const Json& job, bool identifier_annotations) {
  FieldErrors errors;
  check_name(label(job, kQueueLabel), label_path(kQueueLabel), errors);
  check_name(label(job, kPrebuiltWorkload), label_path(kPrebuiltWorkload), errors);
  if (identifier_annotations)
    check_name(annotation(job, kPrebuiltWorkload), annotation_path(kPrebuiltWorkload), errors);
  check_max_exec_time(job, errors);
  return errors;
}

}  // namespace

bool is_managed(const Json& job, const JobContext& context) {
  if (!context.namespace_managed || context.ancestor_managed) return false;
  return context.manage_without_queue_name || !label(job, kQueueLabel).empty();
}

void default_job(Json& job, const JobContext& context) {
  if (!context.namespace_managed || context.ancestor_managed) return;
  if (context.default_queue_exists && label(job, kQueueLabel).empty())
    ensure_path(job, {"metadata", "labels", kQueueLabel}) = Json(kDefaultName);
  if (!is_managed(job, context)) return;
  if (context.default_priority_class_exists && label(job, kPriorityClassLabel).empty())
    ensure_path(job, {"metadata", "labels", kPriorityClassLabel}) = Json(kDefaultName);
  ensure_path(job, {"spec", "suspend"}) = true;
}

FieldErrors validate_job(const Json& job, bool identifier_annotations) {
  FieldErrors errors = validate_words(job, identifier_annotations);
  check_gates(job, errors);
  check_completions_equal_parallelism(job, errors);
  check_min_parallelism(job, errors);
  check_topology(job, errors);
  return errors;
}

// In the order of Kueue's webhook: first the rules for the new job, then the immutable fields.
FieldErrors validate_job_update(const Json& job, const Json& old, bool default_queue_exists,
                                bool identifier_annotations) {
  FieldErrors errors = validate_words(job, identifier_annotations);
  const bool gates_edited = annotation(job, kAdmissionGatedBy) != annotation(old, kAdmissionGatedBy);
  if (gates_edited) check_gates(job, errors);
  check_completions_equal_parallelism(job, errors);
  check_size_and_places(job, old, errors);
  check_queue_update(job, old, default_queue_exists, errors);
  check_prebuilt_update(job, old, identifier_annotations, errors);
  if (!is_suspended(job) || !is_suspended(old))
    check_same(label(job, kMaxExecTimeLabel), label(old, kMaxExecTimeLabel), label_path(kMaxExecTimeLabel), errors);
  check_priority_class_update(job, old, errors);
  if (const bool elastic = annotation(job, kElasticJob) == "true"; elastic != (annotation(old, kElasticJob) == "true"))
    errors.push_back(invalid_value(annotation_path(kElasticJob), Json(elastic), kImmutable));
  if (gates_edited) check_gates_update(job, old, errors);
  check_min_parallelism_update(job, old, errors);
  if (!is_suspended(job) &&
      annotation(job, kCompletionsEqualParallelism) != annotation(old, kCompletionsEqualParallelism))
    errors.push_back(forbidden_field(annotation_path(kCompletionsEqualParallelism),
                                     "field is immutable while the job is not suspended"));
  return errors;
}

}  // namespace berth::api::batch
