#include <fmt/format.h>

#include <initializer_list>
#include <set>
#include <string>

#include "api/object_condition.h"
#include "base/time.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/job_validation.h"

namespace berth::apiserver {
namespace {

// Validates one change of a Job's status, rule by rule.
class StatusCheck {
 public:
  StatusCheck(const Json& job, const Json& old, FieldErrors& errors)
      : job_(job),
        old_(old),
        status_(member_or_null(job, "status")),
        old_status_(member_or_null(old, "status")),
        errors_(errors) {}

  void run() {
    counts();
    conditions();
    times();
    order_of_conditions();
    finished_jobs_rest();
  }

 private:
  bool complete() const { return api::object_condition_is_true(job_, "Complete"); }
  bool failed() const { return api::object_condition_is_true(job_, "Failed"); }
  bool finished() const { return complete() || failed(); }
  bool changed(std::string_view key) const { return !same_member(status_, old_status_, key); }

  void say(std::string_view field, std::string_view text) {
    errors_.push_back(
        api::FieldError{api::FieldErrorType::kInvalid, std::string(field), fmt::format("Invalid value: {}", text)});
  }

  void counts() {
    for (std::string_view key : {"active", "succeeded", "failed", "ready", "terminating"}) {
      check_non_negative(status_, key, "status", errors_);
    }
    auto ready = optional_int_at(status_, {"ready"});
    std::int64_t active = int_at(status_, {"active"});
    if (ready && changed("ready") && *ready > active) {
      errors_.push_back(api::invalid_value("status.ready", *ready, "cannot set more ready pods than active"));
    }
    if (finished() && active > 0 && (changed("active") || changed("conditions"))) {
      errors_.push_back(api::invalid_value("status.active", active, "active>0 is invalid for finished job"));
    }
    auto terminating = optional_int_at(status_, {"terminating"});
    if (finished() && terminating && *terminating > 0 && (changed("terminating") || changed("conditions"))) {
      errors_.push_back(
          api::invalid_value("status.terminating", *terminating, "terminating>0 is invalid for finished job"));
    }
  }

  void conditions() {
    std::set<std::string_view> seen;
    const JsonArray& list = array_at(status_, {"conditions"});
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!seen.insert(string_at(list[i], {"type"})).second) {
        errors_.push_back(api::duplicate(api::index_path("status.conditions", i), member_or_null(list[i], "type")));
      }
    }
  }

  void times() {
    const Json* completion = find(status_, "completionTime");
    const Json* start = find(status_, "startTime");
    if (complete() && completion == nullptr) {
      errors_.push_back(api::required("status.completionTime", "completionTime is required for Complete jobs"));
    }
    if (!complete() && completion != nullptr && (changed("completionTime") || changed("conditions"))) {
      errors_.push_back(api::invalid_value("status.completionTime", *completion,
                                           "cannot set completionTime when there is no Complete=True condition"));
    }
    needs_start_ = finished() && start == nullptr;
    const Json* old_start = find(old_status_, "startTime");
    const bool suspended = bool_at(job_, {"spec", "suspend"});
    if (old_start != nullptr && changed("startTime") && !suspended &&
        (start == nullptr || !bool_at(old_, {"spec", "suspend"}))) {
      errors_.push_back(
          start == nullptr
              ? api::required("status.startTime", "startTime cannot be removed for unsuspended job")
              : api::invalid_value("status.startTime", *start, "startTime cannot be modified for unsuspended job"));
    }
    const Json* old_completion = find(old_status_, "completionTime");
    if (old_completion != nullptr && changed("completionTime")) {
      errors_.push_back(
          api::invalid_value("status.completionTime", member_or_null(status_, "completionTime"), "field is immutable"));
    }
    if (start == nullptr || completion == nullptr) return;
    auto from = parse_time(string_at(status_, {"startTime"})), to = parse_time(string_at(status_, {"completionTime"}));
    if (from && to && *to < *from) {
      errors_.push_back(
          api::invalid_value("status.completionTime", *completion, "completionTime cannot be set before startTime"));
    }
  }

  void exclude(std::string_view one, std::string_view other) {
    if (api::object_condition_is_true(job_, one) && api::object_condition_is_true(job_, other))
      say("status.conditions", fmt::format("cannot set {}=True and {}=true conditions", one, other));
  }

  void stays(std::string_view type) {
    if (api::object_condition_is_true(old_, type) && !api::object_condition_is_true(job_, type))
      say("status.conditions", fmt::format("cannot disable {}=True condition", type));
  }

  void order_of_conditions() {
    exclude("Complete", "Failed");
    exclude("Complete", "FailureTarget");
    exclude("SuccessCriteriaMet", "Failed");
    exclude("SuccessCriteriaMet", "FailureTarget");
    if (complete() && !api::object_condition_is_true(old_, "Complete") &&
        !api::object_condition_is_true(job_, "SuccessCriteriaMet")) {
      say("status.conditions", "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
    if (failed() && !api::object_condition_is_true(old_, "Failed") &&
        !api::object_condition_is_true(job_, "FailureTarget")) {
      say("status.conditions", "cannot set Failed=True condition without the FailureTarget=true condition");
    }
    if (needs_start_) errors_.push_back(api::required("status.startTime", "startTime is required for finished job"));
    for (std::string_view type : {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"}) stays(type);
    const bool indexed = string_at(job_, {"spec", "completionMode"}) == "Indexed";
    if (!indexed && !string_at(status_, {"completedIndexes"}).empty()) {
      errors_.push_back(api::invalid_value("status.completedIndexes", *find(status_, "completedIndexes"),
                                           "cannot set non-empty completedIndexes when non-indexed completion mode"));
    }
    const Json* failed_indexes = find(status_, "failedIndexes");
    if (failed_indexes != nullptr && find_path(job_, {"spec", "backoffLimitPerIndex"}) == nullptr) {
      errors_.push_back(api::invalid_value("status.failedIndexes", *failed_indexes,
                                           "cannot set non-null failedIndexes when backoffLimitPerIndex is null"));
    }
  }

  // Counts that only increase, and pods that must be counted before the Job finishes.
  void finished_jobs_rest() {
    const Json* uncounted = find(status_, "uncountedTerminatedPods");
    const bool none = uncounted == nullptr ||
                      (array_at(*uncounted, {"succeeded"}).empty() && array_at(*uncounted, {"failed"}).empty());
    if (finished() && !none && (changed("uncountedTerminatedPods") || changed("conditions"))) {
      errors_.push_back(api::invalid_value("status.uncountedTerminatedPods", *uncounted,
                                           "uncountedTerminatedPods needs to be empty for finished job"));
    }
    std::int64_t before = int_at(old_status_, {"failed"}), now = int_at(status_, {"failed"});
    if (now < before) errors_.push_back(api::invalid_value("status.failed", now, "cannot decrease the failed counter"));
    before = int_at(old_status_, {"succeeded"});
    now = int_at(status_, {"succeeded"});
    const bool indexed = string_at(job_, {"spec", "completionMode"}) == "Indexed";
    if (now < before && !indexed) {
      errors_.push_back(api::invalid_value("status.succeeded", now, "cannot decrease the succeeded counter"));
    }
  }

  const Json& job_;
  const Json& old_;
  const Json& status_;
  const Json& old_status_;
  FieldErrors& errors_;
  bool needs_start_ = false;
};

}  // namespace

void validate_job_status_update(const Json& job, const Json& old, FieldErrors& errors) {
  StatusCheck(job, old, errors).run();
}

}  // namespace berth::apiserver
