// Validates the content of a custom object.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_path.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

using api::FieldErrors;

// The value as Go's fmt prints it, with the name of its Go type.
std::string described(const Json& value) {
  if (value.is_string()) return fmt::format("{} is of the type string", view(value.get_string()));
  if (value.is_double()) return fmt::format("{} is of the type float64", value.get_double());
  if (value.is_bool()) return fmt::format("{} is of the type bool", value.get_bool());
  if (value.is_object()) return fmt::format("{} is of the type map[string]interface {{}}", to_string(value));
  if (value.is_array()) return fmt::format("{} is of the type []interface {{}}", to_string(value));
  return fmt::format("{} is of the type int64", to_string(value));
}

void check_replicas(const Json& object, const std::string& path, FieldErrors& errors) {
  if (path.empty()) return;
  auto compiled = JsonPath::compile(path);
  const Json* value = compiled ? compiled->find_first(object) : nullptr;
  if (value == nullptr) return;
  constexpr std::int64_t kMost = 2147483647;
  if (!value->is_int64()) {
    errors.push_back(api::invalid_value(path, Json(0),
                                        fmt::format("{} accessor error: {}, expected int64", path, described(*value))));
  } else if (value->get_int64() < 0) {
    errors.push_back(api::invalid_value(path, *value, "should be a non-negative integer"));
  } else if (value->get_int64() > kMost) {
    errors.push_back(api::invalid_value(path, *value, fmt::format("should be less than or equal to {}", kMost)));
  }
}

void check_selector_path(const Json& object, const std::string& path, FieldErrors& errors) {
  if (path.empty()) return;
  auto compiled = JsonPath::compile(path);
  const Json* value = compiled ? compiled->find_first(object) : nullptr;
  if (value == nullptr || value->is_string()) return;
  errors.push_back(api::invalid_value(path, Json(""),
                                      fmt::format("{} accessor error: {}, expected string", path, described(*value))));
}

void check_scale(const Json& object, const ResourceInfo& resource, bool status_only, FieldErrors& errors) {
  if (!resource.has_scale) return;
  if (!status_only) check_replicas(object, resource.scale_spec_path, errors);
  check_replicas(object, resource.scale_status_path, errors);
  check_selector_path(object, resource.scale_selector_path, errors);
}

// Embedded resources must have apiVersion and kind.
void check_embedded(const Json& value, const Schema& schema, bool is_root, const std::string& path,
                    FieldErrors& errors) {
  if (value.is_array() && schema.items) {
    const JsonArray& items = value.get_array();
    for (std::size_t i = 0; i < items.size(); ++i)
      check_embedded(items[i], *schema.items, false, api::index_path(path, i), errors);
  }
  if (!value.is_object()) return;
  if (schema.embedded_resource && !is_root) {
    for (std::string_view key : {"apiVersion", "kind"}) {
      const Json* member = find(value, key);
      if (member == nullptr || (member->is_string() && member->get_string().empty())) {
        errors.push_back(api::required(api::field_path(path, key), "must not be empty"));
      } else if (!member->is_string()) {
        errors.push_back(api::invalid_value(api::field_path(path, key), *member, "must be a string"));
      }
    }
  }
  for (const auto& [name, member] : value.get_object()) {
    if (!member.is_object() && !member.is_array()) continue;
    if (auto it = schema.properties.find(std::string_view(name)); it != schema.properties.end()) {
      check_embedded(member, *it->second, false, api::field_path(path, name), errors);
    } else if (schema.additional) {
      check_embedded(member, *schema.additional, false, api::key_path(path, name), errors);
    }
  }
}

// Rules are not run when earlier errors mean that fields may not have the form that the rules expect.
bool hides_rules(const FieldErrors& errors) {
  return std::any_of(errors.begin(), errors.end(), [](const api::FieldError& error) {
    using enum api::FieldErrorType;
    return error.type == kNotSupported || error.type == kRequired || error.type == kTooLong || error.type == kTooMany ||
           error.type == kTypeInvalid;
  });
}

void add(FieldErrors more, FieldErrors& errors) {
  for (api::FieldError& error : more) errors.push_back(std::move(error));
}

void check_content(const Json& object, const Json* old, const Schema& schema, bool status_only, FieldErrors& errors) {
  if (!status_only) return add(validate_schema(object, old, schema, ""), errors);
  const Json* status = find(object, "status");
  auto it = schema.properties.find("status");
  if (status == nullptr || it == schema.properties.end()) return;
  const Json* old_status = old != nullptr ? find(*old, "status") : nullptr;
  add(validate_schema(*status, old_status, *it->second, "status"), errors);
}

}  // namespace

FieldErrors validate_custom_object(const Json& object, const Json* old, const ResourceInfo& resource,
                                   std::string_view subresource) {
  FieldErrors errors;
  const Schema& schema = *resource.schema;
  const bool status_only = subresource == "status";
  check_content(object, old, schema, status_only, errors);
  check_scale(object, resource, status_only, errors);
  check_embedded(object, schema, true, "", errors);
  FieldErrors duplicates, old_duplicates;
  check_list_types(object, schema, "", duplicates);
  if (!duplicates.empty() && old != nullptr) check_list_types(*old, schema, "", old_duplicates);
  if (old_duplicates.empty()) add(std::move(duplicates), errors);
  if (!schema.rules_below) return errors;
  if (hides_rules(errors)) {
    errors.push_back(
        api::invalid_value("<nil>", Json(),
                           "some validation rules were not checked because the object was invalid; correct the "
                           "existing errors to complete validation"));
  } else {
    add(validate_rules(object, old, schema, ""), errors);
  }
  return errors;
}

}  // namespace berth::apiserver
