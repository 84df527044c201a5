#include "api/field_error.h"

#include <algorithm>
#include <unordered_set>

namespace berth::api {
namespace {

constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxLabel = 63;

constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

bool is_label(std::string_view name) {
  return !name.empty() && is_lower_alnum(name.front()) && is_lower_alnum(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view name) {
  while (true) {
    const std::size_t dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool is_name(std::string_view name) {
  return !name.empty() && is_alnum(name.front()) && is_alnum(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_long_name(std::size_t max) { return "must be no more than " + std::to_string(max) + " bytes"; }

std::string with_detail(std::string text, std::string_view detail) {
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

}  // namespace

std::string to_string(const FieldError& error) {
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

std::string to_string(const FieldErrors& errors) {
  std::vector<std::string> texts;
  std::unordered_set<std::string> known;
  for (const FieldError& error : errors) {
    std::string text = to_string(error);
    if (known.insert(text).second) texts.push_back(std::move(text));
  }
  if (texts.size() == 1) return texts.front();
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "[" : ", ") + text;
  return joined.empty() ? joined : joined + "]";
}

std::string_view reason_of(FieldErrorType type) {
  switch (type) {
    case FieldErrorType::kRequired:
      return "FieldValueRequired";
    case FieldErrorType::kInvalid:
      return "FieldValueInvalid";
    case FieldErrorType::kNotSupported:
      return "FieldValueNotSupported";
    case FieldErrorType::kForbidden:
      return "FieldValueForbidden";
    case FieldErrorType::kDuplicate:
      return "FieldValueDuplicate";
    case FieldErrorType::kTooLong:
      return "FieldValueTooLong";
    case FieldErrorType::kTooMany:
      return "FieldValueTooMany";
    case FieldErrorType::kNotFound:
      return "FieldValueNotFound";
    case FieldErrorType::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case FieldErrorType::kInternal:
      return "InternalError";
  }
  return "InternalError";
}

FieldError required(std::string field, std::string_view detail) {
  return {FieldErrorType::kRequired, std::move(field), with_detail("Required value", detail)};
}

FieldError invalid_value(std::string field, const Json& value, std::string_view detail) {
  return {FieldErrorType::kInvalid, std::move(field), with_detail("Invalid value: " + berth::to_string(value), detail)};
}

FieldError invalid_without_value(std::string field, std::string_view detail) {
  return {FieldErrorType::kInvalid, std::move(field), with_detail("Invalid value", detail)};
}

FieldError not_supported(std::string field, const Json& value, const std::vector<std::string_view>& supported) {
  std::string list;
  for (const std::string_view one : supported) list += (list.empty() ? "" : ", ") + berth::to_string(Json(one));
  return {
      FieldErrorType::kNotSupported, std::move(field),
      with_detail("Unsupported value: " + berth::to_string(value), list.empty() ? "" : "supported values: " + list)};
}

FieldError forbidden_field(std::string field, std::string_view detail) {
  return {FieldErrorType::kForbidden, std::move(field), with_detail("Forbidden", detail)};
}

FieldError duplicate(std::string field, const Json& value) {
  return {FieldErrorType::kDuplicate, std::move(field), "Duplicate value: " + berth::to_string(value)};
}

FieldError too_long(std::string field, std::size_t max_length) {
  return {FieldErrorType::kTooLong, std::move(field),
          "Too long: may not be more than " + std::to_string(max_length) + " bytes"};
}

FieldError too_many(std::string field, std::size_t actual, std::size_t max) {
  return {FieldErrorType::kTooMany, std::move(field),
          "Too many: " + std::to_string(actual) + ": must have at most " + std::to_string(max) + " items"};
}

FieldError not_found_field(std::string field, const Json& value) {
  return {FieldErrorType::kNotFound, std::move(field), "Not found: " + berth::to_string(value)};
}

FieldError type_invalid(std::string field, const Json& value, std::string_view detail) {
  return {FieldErrorType::kTypeInvalid, std::move(field),
          with_detail("Invalid value: " + berth::to_string(value), detail)};
}

std::string check_dns_subdomain(std::string_view name) {
  if (name.size() > kMaxSubdomain) return too_long_name(kMaxSubdomain);
  return is_subdomain(name) ? "" : std::string(kSubdomainRule);
}

std::string check_dns_label(std::string_view name) {
  if (name.size() > kMaxLabel) return too_long_name(kMaxLabel);
  return is_label(name) ? "" : std::string(kLabelRule);
}

std::string check_qualified_name(std::string_view text) {
  std::string_view name = text;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos)
      return "a qualified name " + std::string(kNameRule) +
             " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    if (prefix.empty()) return "prefix part must be non-empty";
    if (const std::string broken = check_dns_subdomain(prefix); !broken.empty()) return "prefix part " + broken;
  }
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > kMaxLabel) return "name part " + too_long_name(kMaxLabel);
  return is_name(name) ? "" : "name part " + std::string(kNameRule);
}

std::string check_label_value(std::string_view value) {
  if (value.size() > kMaxLabel) return too_long_name(kMaxLabel);
  return value.empty() || is_name(value) ? "" : std::string(kLabelValueRule);
}

std::string field_path(std::string_view parent, std::string_view child) {
  if (parent.empty()) return std::string(child);
  return std::string(parent).append(".").append(child);
}

std::string index_path(std::string_view parent, std::size_t i) {
  return std::string(parent) + "[" + std::to_string(i) + "]";
}

std::string key_path(std::string_view parent, std::string_view key) {
  return std::string(parent).append("[").append(key).append("]");
}

}  // namespace berth::api
