// Converts schemas back to OpenAPI v3.
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

// Limits are stored as doubles. A whole number is written without a fraction, as in the original document.
Json number_json(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  constexpr double kExact = 9007199254740992.0;
  if (value > -kExact && value < kExact && static_cast<double>(whole) == value) return Json(whole);
  return Json(value);
}

Json strings(const std::vector<std::string>& values) { return Json(JsonArray(values.begin(), values.end())); }

Json all(const std::vector<SchemaPtr>& schemas) {
  JsonArray out;
  for (const SchemaPtr& schema : schemas) out.push_back(to_openapi(*schema));
  return Json(std::move(out));
}

void put_limits(const Schema& schema, JsonObject& out) {
  auto count = [&](const char* key, const std::optional<std::uint64_t>& value) {
    if (value) out[key] = static_cast<std::int64_t>(*value);
  };
  auto number = [&](const char* key, const std::optional<double>& value) {
    if (value) out[key] = number_json(*value);
  };
  number("minimum", schema.minimum);
  if (schema.exclusive_minimum) out["exclusiveMinimum"] = true;
  number("maximum", schema.maximum);
  if (schema.exclusive_maximum) out["exclusiveMaximum"] = true;
  number("multipleOf", schema.multiple_of);
  count("minLength", schema.min_length);
  count("maxLength", schema.max_length);
  count("minItems", schema.min_items);
  count("maxItems", schema.max_items);
  count("minProperties", schema.min_properties);
  count("maxProperties", schema.max_properties);
  if (schema.unique_items) out["uniqueItems"] = true;
}

void put_children(const Schema& schema, JsonObject& out) {
  if (!schema.required.empty()) out["required"] = strings(schema.required);
  if (schema.items) out["items"] = to_openapi(*schema.items);
  if (!schema.properties.empty()) {
    JsonObject properties;
    for (const auto& [name, child] : schema.properties) properties[name] = to_openapi(*child);
    out["properties"] = std::move(properties);
  }
  if (schema.additional) {
    out["additionalProperties"] = to_openapi(*schema.additional);
  } else if (schema.additional_allowed) {
    out["additionalProperties"] = true;
  }
  if (!schema.all_of.empty()) out["allOf"] = all(schema.all_of);
  if (!schema.any_of.empty()) out["anyOf"] = all(schema.any_of);
  if (!schema.one_of.empty()) out["oneOf"] = all(schema.one_of);
  if (schema.not_) out["not"] = to_openapi(*schema.not_);
}

Json rule_json(const Rule& rule) {
  JsonObject out;
  out["rule"] = rule.rule;
  if (!rule.message.empty()) out["message"] = rule.message;
  if (!rule.message_expression.empty()) out["messageExpression"] = rule.message_expression;
  if (!rule.reason.empty()) out["reason"] = rule.reason;
  if (!rule.field_path.empty()) out["fieldPath"] = rule.field_path;
  if (rule.optional_old_self) out["optionalOldSelf"] = true;
  return Json(std::move(out));
}

void put_extensions(const Schema& schema, JsonObject& out) {
  if (schema.codec == Codec::kQuantity)
    out["oneOf"] = JsonArray{JsonObject{{"type", "string"}}, JsonObject{{"type", "number"}}};
  if (schema.int_or_string) out["x-kubernetes-int-or-string"] = true;
  if (schema.preserve_unknown) out["x-kubernetes-preserve-unknown-fields"] = true;
  if (schema.embedded_resource) out["x-kubernetes-embedded-resource"] = true;
  if (schema.atomic_list) out["x-kubernetes-list-type"] = "atomic";
  if (schema.list_type == ListType::kSet) out["x-kubernetes-list-type"] = "set";
  if (schema.list_type == ListType::kMap) {
    out["x-kubernetes-list-map-keys"] = strings(schema.list_map_keys);
    out["x-kubernetes-list-type"] = "map";
  }
  if (schema.atomic_map) out["x-kubernetes-map-type"] = "atomic";
  if (!schema.patch_merge_key.empty()) out["x-kubernetes-patch-merge-key"] = schema.patch_merge_key;
  if (schema.patch_merge) out["x-kubernetes-patch-strategy"] = "merge";
  if (schema.rules.empty()) return;
  JsonArray rules;
  for (const Rule& rule : schema.rules) rules.push_back(rule_json(rule));
  out["x-kubernetes-validations"] = std::move(rules);
}

}  // namespace

Json to_openapi(const Schema& schema) {
  JsonObject out;
  if (!schema.description.empty()) out["description"] = schema.description;
  if (schema.type != SchemaType::kAny) out["type"] = type_name(schema.type);
  if (!schema.format.empty()) out["format"] = schema.format;
  if (!schema.title.empty()) out["title"] = schema.title;
  if (schema.nullable) out["nullable"] = true;
  if (schema.default_value) out["default"] = *schema.default_value;
  if (!schema.enumeration.empty()) out["enum"] = JsonArray(schema.enumeration.begin(), schema.enumeration.end());
  if (!schema.pattern.empty()) out["pattern"] = schema.pattern;
  put_limits(schema, out);
  put_children(schema, out);
  put_extensions(schema, out);
  return Json(std::move(out));
}

}  // namespace berth::apiserver
