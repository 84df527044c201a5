// Jobs: defaults, generated selectors, table rows.
#include <fmt/format.h>

#include <limits>

#include "api/object_condition.h"
#include "api/printing/table.h"
#include "api/selector.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/job_validation.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/pod_defaults.h"

namespace berth::apiserver {
namespace {

constexpr std::int64_t kDefaultBackoffLimit = 6;

void default_failure_policy(Json& spec) {
  Json* rules = ensure_path(spec, {"podFailurePolicy"}).as_object().if_contains("rules");
  if (rules == nullptr || !rules->is_array()) return;
  for (auto& rule : rules->get_array()) {
    Json* patterns = rule.is_object() ? rule.get_object().if_contains("onPodConditions") : nullptr;
    if (patterns == nullptr || !patterns->is_array()) continue;
    for (auto& pattern : patterns->get_array()) {
      if (string_at(pattern, {"status"}).empty()) pattern.as_object()["status"] = "True";
    }
  }
}

// A Job without labels gets the labels of its pod template.
void default_labels(Json& job) {
  if (!object_at(job, {"metadata", "labels"}).empty()) return;
  const JsonObject labels = object_at(job, {"spec", "template", "metadata", "labels"});
  if (!labels.empty()) ensure_path(job, {"metadata", "labels"}) = labels;
}

Result<void> finish_decoding_job(Json& job) {
  JsonObject& spec = ensure_path(job, {"spec"}).as_object();
  if (!spec.contains("parallelism") && !spec.contains("completions")) spec["completions"] = 1;
  if (!spec.contains("parallelism")) spec["parallelism"] = 1;
  if (!spec.contains("backoffLimit")) {
    spec["backoffLimit"] =
        spec.contains("backoffLimitPerIndex") ? std::numeric_limits<std::int32_t>::max() : kDefaultBackoffLimit;
  }
  if (!spec.contains("manualSelector")) spec["manualSelector"] = false;
  if (!spec.contains("podReplacementPolicy")) {
    spec["podReplacementPolicy"] = spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed";
  }
  if (spec.contains("podFailurePolicy")) default_failure_policy(job.as_object()["spec"]);
  default_pod_spec(ensure_path(job, {"spec", "template", "spec"}));
  default_labels(job);
  return {};
}

void generate_selector(Json& job) {
  const Json uid(string_at(job, {"metadata", "uid"})), name(string_at(job, {"metadata", "name"}));
  Json& labels = ensure_path(job, {"spec", "template", "metadata", "labels"});
  if (!labels.is_object()) labels = JsonObject();
  auto label = [&labels](std::string_view key, const Json& value) {
    if (!labels.get_object().contains(key)) labels.get_object()[key] = value;
  };
  label(kLegacyJobNameLabel, name);
  label(kJobNameLabel, name);
  label(kLegacyControllerUidLabel, uid);
  label(kControllerUidLabel, uid);
  Json& selector = ensure_path(job, {"spec", "selector", "matchLabels"});
  if (!selector.is_object()) selector = JsonObject();
  if (!selector.get_object().contains(kControllerUidLabel)) selector.get_object()[kControllerUidLabel] = uid;
}

void prepare_create_job(Json& job, const Lookup&) {
  job.as_object()["status"] = JsonObject();
  // If the Job's labels equal those of its pod template (as after the default above), it also gets the generated
  // labels.
  const JsonObject before = object_at(job, {"spec", "template", "metadata", "labels"});
  const bool shared = json_equal(Json(object_at(job, {"metadata", "labels"})), Json(before));
  if (bool_at(job, {"spec", "manualSelector"})) return;
  generate_selector(job);
  if (shared) ensure_path(job, {"metadata", "labels"}) = object_at(job, {"spec", "template", "metadata", "labels"});
}

void prepare_update_job(Json& job, const Json& old, std::string_view subresource, const Lookup&) {
  std::string_view kept = subresource == "status" ? "spec" : "status";
  job.as_object()[kept] = member_or_null(old, kept);
  default_labels(job);
}

std::string status_cell_job(const Json& job) {
  for (const char* end : {"Complete", "Failed"}) {
    if (api::object_condition_is_true(job, end)) return end;
  }
  if (find_path(job, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  for (const char* state : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (api::object_condition_is_true(job, state)) return state;
  }
  return "Running";
}

std::string completions_cell(const Json& job) {
  std::int64_t succeeded = int_at(job, {"status", "succeeded"}), parallelism = int_at(job, {"spec", "parallelism"});
  if (auto completions = optional_int_at(job, {"spec", "completions"}))
    return fmt::format("{}/{}", succeeded, *completions);
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism) : fmt::format("{}/1", succeeded);
}

std::string duration_cell(const Json& job, Time now) {
  auto start = parse_time(string_at(job, {"status", "startTime"}));
  if (!start) return "";
  auto end = parse_time(string_at(job, {"status", "completionTime"}));
  return api::human_duration((end ? *end : now) - *start);
}

JsonArray cells_job(const Json& job, Time now) {
  const JsonArray& containers = array_at(job, {"spec", "template", "spec", "containers"});
  return {Json(status_cell_job(job)),
          Json(completions_cell(job)),
          Json(duration_cell(job, now)),
          Json(api::age_of(job, now)),
          Json(api::join_field(containers, "name")),
          Json(api::join_field(containers, "image")),
          Json(api::selector_text(find_path(job, {"spec", "selector"})))};
}

}  // namespace

ResourceInfo job_resource() {
  ResourceInfo info = make_kind({"batch", "v1", "jobs", "Job", "job", {}, {"all"}}, "Job", finish_decoding_job);
  info.has_status = true;
  info.columns = {api::text_column("Status", "State of the job in one word."),
                  api::text_column("Completions", "Succeeded pods of those wanted."),
                  api::text_column("Duration", "Time from the start to the completion, or until now."),
                  api::text_column("Age", "Time since the creation."),
                  api::text_column("Containers", "Names of the containers.", 1),
                  api::text_column("Images", "Images of the containers.", 1),
                  api::text_column("Selector", "Labels of the job's pods.", 1)};
  info.strategy.default_propagation = "Orphan";
  info.strategy.prepare_create = prepare_create_job;
  info.strategy.prepare_update = prepare_update_job;
  info.strategy.validate = [](const Json& job, const Lookup&) {
    FieldErrors errors;
    validate_job(job, errors);
    return errors;
  };
  info.strategy.validate_update = [](const Json& job, const Json& old, std::string_view subresource) {
    FieldErrors errors;
    subresource == "status" ? validate_job_status_update(job, old, errors) : validate_job_update(job, old, errors);
    return errors;
  };
  info.strategy.cells = cells_job;
  info.strategy.selectable_fields = {"status.successful"};
  info.strategy.field = [](const Json& job, std::string_view field) -> std::optional<std::string> {
    if (field != "status.successful") return std::nullopt;
    return fmt::format("{}", int_at(job, {"status", "succeeded"}));
  };
  return info;
}

}  // namespace berth::apiserver
