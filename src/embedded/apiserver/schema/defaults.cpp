// Applies defaults, and validates the defaults themselves.
#include "base/json_members.h"
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

bool misplaced_null(const Json& value, const Schema& schema) { return value.is_null() && !schema.nullable; }

void fill_object(JsonObject& members, const Schema& schema) {
  for (const auto& [name, property] : schema.properties) {
    if (property->default_value && !members.contains(name)) members[name] = *property->default_value;
  }
  erase_members_if(members, [&](auto& member) {
    if (!member.value().is_null()) return false;
    const auto property = schema.properties.find(std::string_view(member.key()));
    const Schema* type = property != schema.properties.end() ? property->second.get() : schema.additional.get();
    if (type == nullptr || type->nullable) return false;
    if (!type->default_value) return true;
    member.value() = *type->default_value;
    return false;
  });
  for (auto& [name, value] : members) {
    if (auto it = schema.properties.find(std::string_view(name)); it != schema.properties.end()) {
      apply_defaults(value, *it->second);
    } else if (schema.additional) {
      apply_defaults(value, *schema.additional);
    }
  }
}

class DefaultsCheck {
 public:
  explicit DefaultsCheck(api::FieldErrors& errors) : errors_(errors) {}

  void walk(const Schema& schema, const std::string& path) {
    if (schema.default_value) check(schema, api::field_path(path, "default"));
    if (schema.items) walk(*schema.items, api::field_path(path, "items"));
    for (const auto& [name, child] : schema.properties) {
      walk(*child, api::key_path(api::field_path(path, "properties"), name));
    }
    if (schema.additional) walk(*schema.additional, api::field_path(path, "additionalProperties"));
  }

 private:
  void check(const Schema& schema, const std::string& path) {
    const Json& value = *schema.default_value;
    if (value.is_null() && !schema.nullable) {
      errors_.push_back(api::invalid_value(path, value, "must not be null"));
      return;
    }
    Json copy = value;
    prune(copy, schema, false, nullptr);
    if (!json_equal(copy, value)) {
      errors_.push_back(api::invalid_value(path, value, "must not have unknown fields"));
      return;
    }
    apply_defaults(copy, schema);
    for (api::FieldError& error : validate_schema(copy, nullptr, schema, path)) errors_.push_back(std::move(error));
  }

  api::FieldErrors& errors_;
};

}  // namespace

void apply_defaults(Json& object, const Schema& schema) {
  if (object.is_object()) {
    fill_object(object.get_object(), schema);
  } else if (object.is_array() && schema.items) {
    for (Json& item : object.get_array()) {
      if (misplaced_null(item, *schema.items) && schema.items->default_value) item = *schema.items->default_value;
      apply_defaults(item, *schema.items);
    }
  }
}

void check_defaults(const Schema& schema, std::string_view path, api::FieldErrors& errors) {
  DefaultsCheck(errors).walk(schema, std::string(path));
}

}  // namespace berth::apiserver
