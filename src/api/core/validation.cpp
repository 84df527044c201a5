#include "api/core/validation.h"

#include <algorithm>
#include <set>

namespace berth::api {
namespace {

constexpr std::size_t kMaxAnnotations = 256u << 10;  // bytes of all keys and values

const Json& value_or_null(const Json* value) {
  static const Json null;
  return value ? *value : null;
}

void check_effect(std::string_view effect, const std::string& path, FieldErrors& errors) {
  if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
    errors.push_back(not_supported(path, Json(effect), {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
}

void check_expression(const Json& expression, const std::string& path, FieldErrors& errors) {
  const std::string_view op = string_at(expression, {"operator"});
  const bool has_values = !array_at(expression, {"values"}).empty();
  if (op == "In" || op == "NotIn") {
    if (!has_values)
      errors.push_back(required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (has_values)
      errors.push_back(
          forbidden_field(path + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else {
    errors.push_back(invalid_value(path + ".operator", Json(op), "not a valid selector operator"));
  }
  const std::string_view key = string_at(expression, {"key"});
  if (const std::string broken = check_qualified_name(key); !broken.empty())
    errors.push_back(invalid_value(path + ".key", Json(key), broken));
}

void check_toleration(const Json& toleration, const std::string& path, FieldErrors& errors) {
  const std::string_view key = string_at(toleration, {"key"});
  const std::string_view op = string_at(toleration, {"operator"});
  const std::string_view value = string_at(toleration, {"value"});
  const std::string_view effect = string_at(toleration, {"effect"});
  if (!key.empty()) {
    if (const std::string broken = check_qualified_name(key); !broken.empty())
      errors.push_back(invalid_value(path + ".key", Json(key), broken));
  } else if (op != "Exists") {
    errors.push_back(
        invalid_value(path + ".operator", Json(op),
                      "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
  }
  if (!value_or_null(find(toleration, "tolerationSeconds")).is_null() && effect != "NoExecute")
    errors.push_back(
        invalid_value(path + ".effect", Json(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  if (op.empty() || op == "Equal") {
    if (const std::string broken = check_label_value(value); !broken.empty())
      errors.push_back(invalid_value(path + ".operator", Json(value), broken));
  } else if (op != "Exists") {
    errors.push_back(not_supported(path + ".operator", Json(op), {"Equal", "Exists"}));
  } else if (!value.empty()) {
    errors.push_back(invalid_value(path + ".operator", toleration, "value must be empty when `operator` is 'Exists'"));
  }
  if (!effect.empty()) check_effect(effect, path + ".effect", errors);
}

}  // namespace

void check_labels(const JsonObject& labels, const std::string& path, FieldErrors& errors) {
  for (const auto& label : labels) {
    const std::string_view key(label.key().data(), label.key().size());
    if (const std::string broken = check_qualified_name(key); !broken.empty())
      errors.push_back(invalid_value(path, Json(key), broken));
    const std::string_view value = label.value().is_string() ? view(label.value().get_string()) : std::string_view();
    if (const std::string broken = check_label_value(value); !broken.empty())
      errors.push_back(invalid_value(path, label.value(), broken));
  }
}

void check_annotations(const JsonObject& annotations, const std::string& path, FieldErrors& errors) {
  std::size_t size = 0;
  for (const auto& annotation : annotations) {
    std::string key(annotation.key());
    size += key.size();
    if (annotation.value().is_string()) size += annotation.value().get_string().size();
    const Json shown(key);
    // Keys of annotations may have capital letters, also in the prefix.
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (const std::string broken = check_qualified_name(key); !broken.empty())
      errors.push_back(invalid_value(path, shown, broken));
  }
  if (size > kMaxAnnotations) errors.push_back(too_long(path, kMaxAnnotations));
}

void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors) {
  check_labels(object_at(selector, {"matchLabels"}), path + ".matchLabels", errors);
  const JsonArray& expressions = array_at(selector, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i)
    check_expression(expressions[i], index_path(path + ".matchExpressions", i), errors);
}

void check_tolerations(const JsonArray& tolerations, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) check_toleration(tolerations[i], index_path(path, i), errors);
}

void check_taints(const JsonArray& taints, const std::string& path, FieldErrors& errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string at = index_path(path, i);
    const std::string_view key = string_at(taints[i], {"key"});
    const std::string_view value = string_at(taints[i], {"value"});
    const std::string_view effect = string_at(taints[i], {"effect"});
    if (const std::string broken = check_qualified_name(key); !broken.empty())
      errors.push_back(invalid_value(at + ".key", Json(key), broken));
    if (const std::string broken = check_label_value(value); !broken.empty())
      errors.push_back(invalid_value(at + ".value", Json(value), broken));
    check_effect(effect, at + ".effect", errors);
    if (!seen.emplace(key, effect).second) errors.push_back(duplicate(at, taints[i]));
  }
}

void check_unchanged(const Json* now, const Json* old, const std::string& path, FieldErrors& errors) {
  if (!json_equal(value_or_null(now), value_or_null(old)))
    errors.push_back(invalid_value(path, value_or_null(now), "field is immutable"));
}

}  // namespace berth::api
