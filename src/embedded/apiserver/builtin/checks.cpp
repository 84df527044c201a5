#include "embedded/apiserver/builtin/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace berth::apiserver {

using api::field_path;

const Json& member_or_null(const Json& owner, std::string_view key) {
  static const Json kNull;
  const Json* value = find(owner, key);
  return value == nullptr ? kNull : *value;
}

bool same_member(const Json& a, const Json& b, std::string_view key) {
  return json_equal(member_or_null(a, key), member_or_null(b, key));
}

void check_non_negative(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors) {
  auto value = optional_int_at(owner, {key});
  if (value && *value < 0) {
    errors.push_back(api::invalid_value(field_path(path, key), *value, "must be greater than or equal to 0"));
  }
}

void check_positive(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors) {
  auto value = optional_int_at(owner, {key});
  if (value && *value <= 0)
    errors.push_back(api::invalid_value(field_path(path, key), *value, "must be greater than 0"));
}

void check_port(std::int64_t port, const std::string& path, FieldErrors& errors) {
  if (port < 1 || port > 65535) {
    errors.push_back(api::invalid_value(path, port, "must be between 1 and 65535, inclusive"));
  }
}

void check_share(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors) {
  const Json& value = member_or_null(owner, key);
  if (value.is_int64() || value.is_null()) return check_non_negative(owner, key, path, errors);
  std::string_view text = string_at(owner, {key});
  bool fine = text.size() > 1 && text.ends_with('%') &&
              std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  if (fine) return;
  errors.push_back(api::invalid_value(field_path(path, key), value,
                                      "a valid percent string must be a numeric string followed by an ending "
                                      "'%' (e.g. '1%',  or '93%', regex used for "
                                      "validation is '[0-9]+%')"));
}

void check_enum(const Json& owner, std::string_view key, std::string_view path,
                std::initializer_list<std::string_view> allowed, bool is_required, FieldErrors& errors) {
  std::string_view value = string_at(owner, {key});
  if (value.empty()) {
    if (is_required) errors.push_back(api::required(field_path(path, key), ""));
    return;
  }
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    errors.push_back(api::not_supported(field_path(path, key), member_or_null(owner, key), allowed));
  }
}

bool check_required(const Json& owner, std::string_view key, std::string_view path, FieldErrors& errors) {
  const Json* value = find(owner, key);
  bool empty = value == nullptr || value->is_null() || (value->is_string() && value->get_string().empty()) ||
               (value->is_array() && value->get_array().empty());
  if (empty) errors.push_back(api::required(field_path(path, key), ""));
  return !empty;
}

void check_text(const Json& owner, std::string_view key, std::string_view path,
                const std::function<std::string(std::string_view)>& rule, FieldErrors& errors) {
  std::string_view value = string_at(owner, {key});
  if (value.empty()) return;
  if (std::string broken = rule(value); !broken.empty()) {
    errors.push_back(api::invalid_value(field_path(path, key), member_or_null(owner, key), broken));
  }
}

void check_labels(const JsonObject& labels, const std::string& path, FieldErrors& errors) {
  for (const auto& label : labels) {
    std::string_view key = label.key();
    if (std::string broken = api::check_qualified_name(key); !broken.empty()) {
      errors.push_back(api::invalid_value(path, Json(label.key()), broken));
    }
    std::string_view value = label.value().is_string() ? view(label.value().get_string()) : std::string_view();
    if (std::string broken = api::check_label_value(value); !broken.empty()) {
      errors.push_back(api::invalid_value(path, label.value(), broken));
    }
  }
}

void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors) {
  check_labels(object_at(selector, {"matchLabels"}), field_path(path, "matchLabels"), errors);
  const JsonArray& expressions = array_at(selector, {"matchExpressions"});
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    std::string at = api::index_path(field_path(path, "matchExpressions"), i);
    std::string_view op = string_at(expressions[i], {"operator"});
    bool has_values = !array_at(expressions[i], {"values"}).empty();
    if (op == "In" || op == "NotIn") {
      if (!has_values) {
        errors.push_back(
            api::required(field_path(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (has_values) {
        errors.push_back(api::forbidden_field(field_path(at, "values"),
                                              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
    } else {
      errors.push_back(api::invalid_value(field_path(at, "operator"), member_or_null(expressions[i], "operator"),
                                          "not a valid selector operator"));
    }
    check_text(expressions[i], "key", at, api::check_qualified_name, errors);
  }
}

std::string check_config_key(std::string_view key) {
  constexpr std::size_t kMaxLength = 253;
  if (key.size() > kMaxLength) return fmt::format("must be no more than {} characters", kMaxLength);
  bool fine = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!fine) {
    return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
           "or 'KEY_NAME',  "
           "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  }
  if (key == ".") return "must not be '.'";
  if (key == "..") return "must not be '..'";
  if (key.starts_with("..")) return "must not start with '..'";
  return {};
}

void check_immutable(const Json& object, const Json& old, std::string_view key, std::string_view path,
                     FieldErrors& errors) {
  if (!same_member(object, old, key)) {
    errors.push_back(api::invalid_value(field_path(path, key), member_or_null(object, key), "field is immutable"));
  }
}

void copy_member(Json& to, const Json& from, std::string_view key) {
  if (!to.is_object()) return;
  if (const Json* value = find(from, key)) {
    to.get_object()[key] = *value;
  } else {
    to.get_object().erase(key);
  }
}

}  // namespace berth::apiserver
