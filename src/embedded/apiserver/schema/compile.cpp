// Compiles OpenAPI v3 documents to schemas, with kube-apiserver's checks of the schema of a CustomResourceDefinition.
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "api/field_error.h"
#include "cel/pattern.h"
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/rules.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

using api::FieldErrors;

constexpr std::array<std::string_view, 6> kTypes = {"array", "boolean", "integer", "number", "object", "string"};

SchemaType type_of(std::string_view name) {
  if (name == "object") return SchemaType::kObject;
  if (name == "array") return SchemaType::kArray;
  if (name == "string") return SchemaType::kString;
  if (name == "integer") return SchemaType::kInteger;
  if (name == "number") return SchemaType::kNumber;
  if (name == "boolean") return SchemaType::kBoolean;
  return SchemaType::kAny;
}

// JSON Schema keywords that kube-apiserver rejects, and its messages.
struct Refused {
  std::string_view key, detail;
};
constexpr Refused kRefused[] = {
    {"$ref", "$ref is not supported"},
    {"patternProperties", "patternProperties is not supported"},
    {"definitions", "definitions is not supported"},
    {"dependencies", "dependencies is not supported"},
    {"additionalItems", "additionalItems is not supported"},
    {"id", "id is not supported"},
    {"deprecated", "deprecated is not supported"},
    {"discriminator", "discriminator is not supported"},
    {"readOnly", "readOnly is not supported"},
    {"writeOnly", "writeOnly is not supported"},
    {"xml", "xml is not supported"},
};

class Compiler {
 public:
  explicit Compiler(FieldErrors& errors) : errors_(errors) {}

  std::shared_ptr<Schema> node(const Json& json, const std::string& path, NodeLevel level) {
    auto schema = std::make_shared<Schema>();
    if (!json.is_object()) {
      errors_.push_back(api::invalid_value(path, json, "must be a schema object"));
      return schema;
    }
    const JsonObject& in = json.get_object();
    refuse_keywords(in, path);
    read_scalars(in, *schema, path);
    read_limits(in, *schema);
    read_extensions(in, *schema, path);
    read_children(in, *schema, path, level);
    read_junctors(in, *schema, path);
    check_node(in, *schema, path, level, int_or_string_, errors_);
    schema->rules_below = !schema->rules.empty() || child_has_rules(*schema);
    if (level != NodeLevel::kNested) compile_rules(*schema, level == NodeLevel::kRoot, path, rule_errors_);
    return schema;
  }

  // Errors of rules that do not compile. Kept separate because they are reported only when the structure is valid.
  const FieldErrors& rule_errors() const { return rule_errors_; }

 private:
  void refuse_keywords(const JsonObject& in, const std::string& path) {
    for (const Refused& refused : kRefused) {
      const Json* value = in.if_contains(refused.key);
      if (value == nullptr || value->is_null() || (value->is_bool() && !value->get_bool())) continue;
      errors_.push_back(api::forbidden_field(api::field_path(path, refused.key), refused.detail));
    }
    if (flag(in, "uniqueItems")) {
      errors_.push_back(
          api::forbidden_field(api::field_path(path, "uniqueItems"),
                               "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    }
    const Json* additional = in.if_contains("additionalProperties");
    if (additional != nullptr && additional->is_bool() && !additional->get_bool()) {
      errors_.push_back(api::forbidden_field(api::field_path(path, "additionalProperties"),
                                             "additionalProperties cannot be set to false"));
    }
    if (additional != nullptr && !object_in(in, "properties").empty()) {
      errors_.push_back(api::forbidden_field(api::field_path(path, "additionalProperties"),
                                             "additionalProperties and properties are mutual exclusive"));
    }
    if (const Json* items = in.if_contains("items"); items != nullptr && items->is_array()) {
      errors_.push_back(
          api::forbidden_field(api::field_path(path, "items"), "items must be a schema object and not an array"));
    }
  }

  void read_scalars(const JsonObject& in, Schema& out, const std::string& path) {
    std::string_view type = text(in, "type");
    out.type = type_of(type);
    if (!type.empty() && out.type == SchemaType::kAny) {
      if (type == "null") {
        errors_.push_back(api::forbidden_field(api::field_path(path, "type"),
                                               "type cannot be set to null, use nullable as an alternative"));
      } else {
        errors_.push_back(
            api::not_supported(api::field_path(path, "type"), Json(type), {kTypes.begin(), kTypes.end()}));
      }
    }
    out.format = text(in, "format");
    out.description = text(in, "description");
    out.title = text(in, "title");
    out.pattern = text(in, "pattern");
    if (!out.pattern.empty()) {
      out.expression = cel::compile_pattern(out.pattern);
      if (!out.expression->ok()) {
        errors_.push_back(
            api::invalid_value(api::field_path(path, "pattern"), Json(out.pattern),
                               "must be a valid regular expression, but isn't: " + out.expression->error()));
      }
    }
    out.nullable = flag(in, "nullable");
    if (const Json* value = in.if_contains("default"); value != nullptr) out.default_value = *value;
    if (const Json* value = in.if_contains("enum"); value != nullptr && value->is_array()) {
      out.enumeration.assign(value->get_array().begin(), value->get_array().end());
    }
    for (const Json& name : array_in(in, "required")) {
      if (name.is_string()) out.required.emplace_back(view(name.get_string()));
    }
  }

  void read_limits(const JsonObject& in, Schema& out) {
    out.minimum = number(in, "minimum");
    out.maximum = number(in, "maximum");
    out.multiple_of = number(in, "multipleOf");
    out.exclusive_minimum = flag(in, "exclusiveMinimum");
    out.exclusive_maximum = flag(in, "exclusiveMaximum");
    out.min_length = count(in, "minLength");
    out.max_length = count(in, "maxLength");
    out.min_items = count(in, "minItems");
    out.max_items = count(in, "maxItems");
    out.min_properties = count(in, "minProperties");
    out.max_properties = count(in, "maxProperties");
    out.unique_items = flag(in, "uniqueItems");
  }

  void read_extensions(const JsonObject& in, Schema& out, const std::string& path) {
    out.int_or_string = flag(in, "x-kubernetes-int-or-string");
    out.embedded_resource = flag(in, "x-kubernetes-embedded-resource");
    out.preserve_unknown = flag(in, "x-kubernetes-preserve-unknown-fields");
    if (const Json* value = in.if_contains("x-kubernetes-preserve-unknown-fields");
        value != nullptr && value->is_bool() && !value->get_bool()) {
      errors_.push_back(api::invalid_value(api::field_path(path, "x-kubernetes-preserve-unknown-fields"), *value,
                                           "must be true or undefined"));
    }
    std::string_view list = text(in, "x-kubernetes-list-type");
    if (list == "map") out.list_type = ListType::kMap;
    if (list == "set") out.list_type = ListType::kSet;
    out.atomic_list = list == "atomic";
    if (!list.empty() && list != "map" && list != "set" && list != "atomic") {
      errors_.push_back(
          api::not_supported(api::field_path(path, "x-kubernetes-list-type"), Json(list), {"atomic", "map", "set"}));
    }
    for (const Json& key : array_in(in, "x-kubernetes-list-map-keys")) {
      if (key.is_string()) out.list_map_keys.emplace_back(view(key.get_string()));
    }
    std::string_view map = text(in, "x-kubernetes-map-type");
    out.atomic_map = map == "atomic";
    if (!map.empty() && map != "atomic" && map != "granular") {
      errors_.push_back(
          api::not_supported(api::field_path(path, "x-kubernetes-map-type"), Json(map), {"atomic", "granular"}));
    }
    out.patch_merge_key = text(in, "x-kubernetes-patch-merge-key");
    std::string_view strategy = text(in, "x-kubernetes-patch-strategy");
    out.patch_merge = strategy.find("merge") != std::string_view::npos;
    read_rules(in, out);
  }

  static void read_rules(const JsonObject& in, Schema& out) {
    for (const Json& item : array_in(in, "x-kubernetes-validations")) {
      if (!item.is_object()) continue;
      const JsonObject& rule = item.get_object();
      Rule& to = out.rules.emplace_back();
      to.rule = text(rule, "rule");
      to.message = text(rule, "message");
      to.message_expression = text(rule, "messageExpression");
      to.reason = text(rule, "reason");
      to.field_path = text(rule, "fieldPath");
      to.optional_old_self = flag(rule, "optionalOldSelf");
    }
  }

  void read_children(const JsonObject& in, Schema& out, const std::string& path, NodeLevel level) {
    NodeLevel items = level == NodeLevel::kNested ? NodeLevel::kNested : NodeLevel::kItem;
    NodeLevel fields = level == NodeLevel::kNested ? NodeLevel::kNested : NodeLevel::kField;
    if (const Json* value = in.if_contains("items"); value != nullptr && value->is_object()) {
      out.items = node(*value, api::field_path(path, "items"), items);
    } else if (out.type == SchemaType::kArray && level != NodeLevel::kNested) {
      errors_.push_back(api::required(api::field_path(path, "items"), "must be specified"));
    }
    for (const auto& [name, value] : object_in(in, "properties")) {
      std::string child = api::key_path(api::field_path(path, "properties"), name);
      out.properties.emplace(std::string(name), node(value, child, fields));
    }
    if (const Json* value = in.if_contains("additionalProperties"); value != nullptr) {
      if (value->is_bool()) {
        out.additional_allowed = value->get_bool();
      } else if (value->is_object()) {
        out.additional = node(*value, api::field_path(path, "additionalProperties"), fields);
      }
    }
  }

  void read_junctors(const JsonObject& in, Schema& out, const std::string& path) {
    auto list = [&](std::string_view key, std::vector<SchemaPtr>& to) {
      const JsonArray& branches = array_in(in, key);
      for (std::size_t i = 0; i < branches.size(); ++i) {
        to.push_back(branch(branches[i], api::index_path(api::field_path(path, key), i), out.int_or_string));
      }
    };
    list("allOf", out.all_of);
    list("anyOf", out.any_of);
    list("oneOf", out.one_of);
    if (const Json* value = in.if_contains("not"); value != nullptr && value->is_object()) {
      out.not_ = branch(*value, api::field_path(path, "not"), false);
    }
  }

  // A branch of anyOf, allOf, oneOf or not must not change the structure. Only `anyOf: [{type: integer}, {type:
  // string}]` of an int-or-string may specify types, also one level down in an allOf.
  SchemaPtr branch(const Json& json, const std::string& path, bool int_or_string) {
    const bool before = int_or_string_;
    int_or_string_ = before || int_or_string;
    SchemaPtr result = node(json, path, NodeLevel::kNested);
    int_or_string_ = before;
    return result;
  }

  static bool child_has_rules(const Schema& schema) {
    if (schema.items && schema.items->rules_below) return true;
    if (schema.additional && schema.additional->rules_below) return true;
    return std::any_of(schema.properties.begin(), schema.properties.end(),
                       [](const auto& child) { return child.second->rules_below; });
  }

  static const JsonArray& array_in(const JsonObject& in, std::string_view key) {
    static const JsonArray kNone;
    const Json* value = in.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : kNone;
  }
  static const JsonObject& object_in(const JsonObject& in, std::string_view key) {
    static const JsonObject kNone;
    const Json* value = in.if_contains(key);
    return value != nullptr && value->is_object() ? value->get_object() : kNone;
  }
  static std::string_view text(const JsonObject& in, std::string_view key) {
    const Json* value = in.if_contains(key);
    return value != nullptr && value->is_string() ? view(value->get_string()) : std::string_view();
  }
  static bool flag(const JsonObject& in, std::string_view key) {
    const Json* value = in.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  static std::optional<double> number(const JsonObject& in, std::string_view key) {
    const Json* value = in.if_contains(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return as_double(*value);
  }
  static std::optional<std::uint64_t> count(const JsonObject& in, std::string_view key) {
    std::optional<double> value = number(in, key);
    constexpr double kLargest = 9e18;  // fits in an int64, the type of these limits in kube-apiserver
    if (!value || *value < 0 || *value > kLargest) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }

  FieldErrors& errors_;
  FieldErrors rule_errors_;
  bool int_or_string_ = false;
};

}  // namespace

std::string_view type_name(SchemaType type) {
  switch (type) {
    case SchemaType::kObject:
      return "object";
    case SchemaType::kArray:
      return "array";
    case SchemaType::kString:
      return "string";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kAny:
      break;
  }
  return "";
}

double as_double(const Json& number) {
  if (number.is_int64()) return static_cast<double>(number.get_int64());
  if (number.is_uint64()) return static_cast<double>(number.get_uint64());
  return number.is_double() ? number.get_double() : 0;
}

SchemaPtr compile_schema(const Json& openapi, std::string_view path, FieldErrors& errors) {
  const std::size_t before = errors.size();
  Compiler compiler(errors);
  std::shared_ptr<Schema> schema = compiler.node(openapi, std::string(path), NodeLevel::kRoot);
  if (errors.size() != before) return schema;
  check_defaults(*schema, path, errors);
  errors.insert(errors.end(), compiler.rule_errors().begin(), compiler.rule_errors().end());
  if (errors.size() == before && schema->rules_below) check_costs(*schema, path, errors);
  return schema;
}

}  // namespace berth::apiserver
