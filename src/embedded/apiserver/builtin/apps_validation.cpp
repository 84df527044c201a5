#include "embedded/apiserver/builtin/apps_validation.h"

#include <fmt/format.h>

#include "api/selector.h"
#include "embedded/apiserver/builtin/pod_validation.h"

namespace berth::apiserver {
namespace {

void validate_serving_selector(const Json& spec, const Json& pod_template, std::string_view kind, FieldErrors& errors) {
  const Json* selector = find(spec, "selector");
  if (selector == nullptr || selector->is_null()) {
    errors.push_back(api::required("spec.selector", ""));
  } else {
    check_label_selector(*selector, "spec.selector", errors);
    if (selector->is_object() && selector->get_object().empty()) {
      errors.push_back(
          api::invalid_value("spec.selector", *selector, fmt::format("empty selector is invalid for {}", kind)));
      return;
    }
    const auto parsed = api::LabelSelector::from_json(*selector);
    if (!parsed || parsed->matches(object_at(pod_template, {"metadata", "labels"}))) return;
  }
  const Json* labels = find_path(pod_template, {"metadata", "labels"});
  errors.push_back(api::invalid_value("spec.template.metadata.labels", labels == nullptr ? Json() : *labels,
                                      "`selector` does not match template `labels`"));
}

}  // namespace

void validate_serving_pods(const Json& spec, const Json& pod_template, const ServingKind& kind, FieldErrors& errors) {
  validate_serving_selector(spec, pod_template, kind.of_selector, errors);
  validate_pod_template(pod_template, "spec.template", errors);
  const std::string_view restart = string_at(pod_template, {"spec", "restartPolicy"});
  if (restart == "OnFailure" || restart == "Never")
    errors.push_back(api::not_supported("spec.template.spec.restartPolicy", Json(restart), {"Always"}));
  if (optional_int_at(pod_template, {"spec", "activeDeadlineSeconds"})) {
    errors.push_back(
        api::forbidden_field("spec.template.spec.activeDeadlineSeconds",
                             fmt::format("activeDeadlineSeconds in {} is not Supported", kind.of_template)));
  }
}

void validate_replica_counts(const Json& object, std::initializer_list<std::string_view> counts,
                             std::initializer_list<std::string_view> parts, std::string_view ready_name,
                             FieldErrors& errors) {
  const Json& status = member_or_null(object, "status");
  for (const std::string_view key : counts) check_non_negative(status, key, "status", errors);
  const auto count = [&](std::string_view key) { return int_at(status, {key}); };
  const auto too_many = [&](std::string_view key, std::string_view most) {
    errors.push_back(
        api::invalid_value(api::field_path("status", key), count(key), fmt::format("cannot be greater than {}", most)));
  };
  for (const std::string_view key : parts) {
    if (count(key) > count("replicas")) too_many(key, "status.replicas");
  }
  if (count("availableReplicas") > count("readyReplicas")) too_many("availableReplicas", ready_name);
}

void validate_collision_count(const Json& object, const Json& old, FieldErrors& errors) {
  const std::int64_t now = int_at(object, {"status", "collisionCount"});
  if (now < int_at(old, {"status", "collisionCount"}))
    errors.push_back(api::invalid_value("status.collisionCount", now, "cannot be decremented"));
}

}  // namespace berth::apiserver
