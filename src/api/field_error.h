// Errors of single fields, with the texts of Kubernetes' validation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::api {

using berth::to_string;  // not hidden by the ones below

enum class FieldErrorType : std::uint8_t {
  kRequired,
  kInvalid,
  kNotSupported,
  kForbidden,
  kDuplicate,
  kTooLong,
  kTooMany,
  kNotFound,
  kTypeInvalid,
  kInternal
};

struct FieldError {
  FieldErrorType type = FieldErrorType::kInvalid;
  std::string field;    // "spec.resourceGroups[0].flavors[1].name"; empty: none is wrong alone
  std::string message;  // without the field: `Invalid value: "x": must be ...`
};
using FieldErrors = std::vector<FieldError>;

// "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"
std::string to_string(const FieldError& error);
std::string to_string(const FieldErrors& errors);  // one: as above; several: "[a, b]", the same text once; none: ""
std::string_view reason_of(FieldErrorType type);   // "FieldValueInvalid", as in Status causes

FieldError required(std::string field, std::string_view detail);
FieldError invalid_value(std::string field, const Json& value, std::string_view detail);
FieldError invalid_without_value(std::string field,
                                 std::string_view detail);  // "Invalid value: detail", as CEL rules print
FieldError not_supported(std::string field, const Json& value, const std::vector<std::string_view>& supported);
FieldError forbidden_field(std::string field, std::string_view detail);
FieldError duplicate(std::string field, const Json& value);
FieldError too_long(std::string field, std::size_t max_length);
FieldError too_many(std::string field, std::size_t actual, std::size_t max);
FieldError not_found_field(std::string field, const Json& value);
FieldError type_invalid(std::string field, const Json& value, std::string_view detail);

// Rules for names and keys. Each function returns an explanation when the rule is broken, else "".
std::string check_dns_subdomain(std::string_view name);   // RFC 1123 subdomain, at most 253
std::string check_dns_label(std::string_view name);       // RFC 1123 label, at most 63
std::string check_qualified_name(std::string_view name);  // [prefix/]name of labels, annotations, finalizers
std::string check_label_value(std::string_view value);

// Path building: field_path("spec", "a") == "spec.a"; index("spec.a", 2) == "spec.a[2]"; key("spec.a","x") ==
// "spec.a[x]"
std::string field_path(std::string_view parent, std::string_view child);
std::string index_path(std::string_view parent, std::size_t i);
std::string key_path(std::string_view parent, std::string_view key);

}  // namespace berth::api
