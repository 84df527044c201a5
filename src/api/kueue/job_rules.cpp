#include "api/kueue/job_rules.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/kueue/names.h"
#include "api/kueue/ready_times.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

constexpr std::size_t kMaxGateLength = 63;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void check_job_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  if (name.empty()) return;
  if (const std::string broken = check_dns_subdomain(name); !broken.empty())
    errors.push_back(invalid_value(path, Json(name), broken));
}

void check_max_exec_time(const Json& job, FieldErrors& errors) {
  const Json* value = find_path(job, {"metadata", "labels", kMaxExecTimeLabel});
  if (!value || !value->is_string()) return;
  const auto seconds = whole_number(view(value->get_string()));
  if (!seconds || *seconds > INT32_MAX) {
    errors.push_back(invalid_value(label_field(kMaxExecTimeLabel), *value, "must be an integer"));
  } else if (*seconds <= 0) {
    errors.push_back(invalid_value(label_field(kMaxExecTimeLabel), *seconds, "should be greater than 0"));
  }
}

// Splits a list at commas and trims spaces; keeps empty names.
std::vector<std::string_view> gates_in(std::string_view list) {
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

void check_same_text(std::string_view now, std::string_view before, const std::string& path, FieldErrors& errors) {
  if (now != before) errors.push_back(invalid_value(path, Json(now), kImmutableField));
}

void check_queue_update(const JobUpdate& update, FieldErrors& errors) {
  const std::string_view now = label_of(update.now, kQueueLabel);
  if (now == label_of(update.old, kQueueLabel)) return;
  const std::string path = label_field(kQueueLabel);
  if (!update.suspended) errors.push_back(invalid_value(path, Json(now), kImmutableField));
  if (now.empty() && update.default_queue_exists)
    errors.push_back(invalid_value(path, Json(now), "queue-name must not be empty in namespace with default queue"));
}

void check_prebuilt_update(const JobUpdate& update, FieldErrors& errors) {
  if (update.suspended) return;
  check_same_text(label_of(update.now, kPrebuiltWorkload), label_of(update.old, kPrebuiltWorkload),
                  label_field(kPrebuiltWorkload), errors);
  if (update.labels.identifier_annotations)
    check_same_text(annotation_of(update.now, kPrebuiltWorkload), annotation_of(update.old, kPrebuiltWorkload),
                    annotation_field(kPrebuiltWorkload), errors);
}

}  // namespace

std::string_view label_of(const Json& object, std::string_view key) {
  return string_at(object, {"metadata", "labels", key});
}
std::string_view annotation_of(const Json& object, std::string_view key) {
  return string_at(object, {"metadata", "annotations", key});
}
std::string label_field(std::string_view key) { return key_path("metadata.labels", key); }
std::string annotation_field(std::string_view key) { return key_path("metadata.annotations", key); }

bool is_managed(const Json& job, const JobContext& context) {
  if (!context.namespace_managed || context.ancestor_managed) return false;
  return context.manage_without_queue_name || !label_of(job, kQueueLabel).empty();
}

bool take_defaults(Json& job, const JobContext& context) {
  if (!context.namespace_managed || context.ancestor_managed) return false;
  if (context.default_queue_exists && label_of(job, kQueueLabel).empty())
    ensure_path(job, {"metadata", "labels", kQueueLabel}) = Json(kDefaultName);
  if (!is_managed(job, context)) return false;
  if (context.default_priority_class_exists && label_of(job, kPriorityClassLabel).empty())
    ensure_path(job, {"metadata", "labels", kPriorityClassLabel}) = Json(kDefaultName);
  return true;
}

void check_queue_name(const Json& job, FieldErrors& errors) {
  check_job_name(label_of(job, kQueueLabel), label_field(kQueueLabel), errors);
}

void check_no_elastic_job(const Json& job, std::string_view kind, FieldErrors& errors) {
  if (annotation_of(job, kElasticJob) == "true")
    errors.push_back(forbidden_field(annotation_field(kElasticJob),
                                     "elastic job is not supported for \"" + std::string(kind) + "\""));
}

void check_job_labels(const Json& job, const LabelRules& rules, FieldErrors& errors) {
  check_queue_name(job, errors);
  check_job_name(label_of(job, kPrebuiltWorkload), label_field(kPrebuiltWorkload), errors);
  if (rules.identifier_annotations)
    check_job_name(annotation_of(job, kPrebuiltWorkload), annotation_field(kPrebuiltWorkload), errors);
  check_max_exec_time(job, errors);
}

void check_admission_gates(const Json& job, FieldErrors& errors) {
  const std::string path = annotation_field(kAdmissionGatedBy);
  const std::string_view list = annotation_of(job, kAdmissionGatedBy);
  std::set<std::string_view> seen;
  bool empty = false;  // an empty name is reported once
  for (const std::string_view gate : gates_in(list)) {
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

void check_job_labels_update(const JobUpdate& update, FieldErrors& errors) {
  check_queue_update(update, errors);
  check_prebuilt_update(update, errors);
  if (!update.suspended || !update.was_suspended)
    check_same_text(label_of(update.now, kMaxExecTimeLabel), label_of(update.old, kMaxExecTimeLabel),
                    label_field(kMaxExecTimeLabel), errors);
  check_ready_times_update(update, errors);
  check_priority_class_update(update, errors);
}

void check_ready_times_update(const JobUpdate& update, FieldErrors& errors) {
  const std::string_view now = annotation_of(update.now, kWaitForPodsReady);
  if (!update.labels.longest_ready_time || now == annotation_of(update.old, kWaitForPodsReady)) return;
  if (update.suspended) return check_ready_times(update.now, update.labels, errors);
  errors.push_back(invalid_value(annotation_field(kWaitForPodsReady), Json(now), kImmutableField));
}

void check_priority_class_update(const JobUpdate& update, FieldErrors& errors) {
  const std::string_view now = label_of(update.now, kPriorityClassLabel);
  const std::string_view before = label_of(update.old, kPriorityClassLabel);
  const std::string path = label_field(kPriorityClassLabel);
  if (!before.empty() && now.empty())
    errors.push_back(invalid_value(path, Json(now), "WorkloadPriorityClass cannot be removed from a workload"));
  if (before.empty() && !now.empty() && !update.suspended)
    errors.push_back(
        invalid_value(path, Json(now), "WorkloadPriorityClass cannot be added to a non-suspended workload"));
}

void check_admission_gates_update(const Json& now, const Json& old, FieldErrors& errors) {
  const auto before = gates_in(annotation_of(old, kAdmissionGatedBy));
  const std::set<std::string_view> known(before.begin(), before.end());
  const auto left = gates_in(annotation_of(now, kAdmissionGatedBy));
  if (std::ranges::all_of(left, [&](const auto gate) { return known.contains(gate); })) return;
  errors.push_back(
      forbidden_field(annotation_field(kAdmissionGatedBy), before.empty() ? "cannot add admission gate after creation"
                                                                          : "can only remove gates, not add new ones"));
}

}  // namespace berth::api::kueue
