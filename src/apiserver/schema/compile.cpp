// From OpenAPI v3 documents to schemas. The checks are those of a server on a CustomResourceDefinition's
// schema.
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "api/field_error.h"
#include "apiserver/cel/rules.h"
#include "apiserver/schema/internal.h"
#include "apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

using api::FieldErrors;

enum class Level { kRoot, kField, kItem, kNested };

constexpr std::array<std::string_view, 6> kTypes = {"array",  "boolean", "integer",
                                                    "number", "object",  "string"};

SchemaType type_of(std::string_view name) {
  if (name == "object") return SchemaType::kObject;
  if (name == "array") return SchemaType::kArray;
  if (name == "string") return SchemaType::kString;
  if (name == "integer") return SchemaType::kInteger;
  if (name == "number") return SchemaType::kNumber;
  if (name == "boolean") return SchemaType::kBoolean;
  return SchemaType::kAny;
}

// Keywords of JSON schema that servers refuse, with what they say.
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

  std::shared_ptr<Schema> node(const Json& json, const std::string& path, Level level) {
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
    check_list_type(in, *schema, path);
    if (level == Level::kNested) {
      check_nested(in, path);
    } else {
      check_structure(in, *schema, path, level);
      check_specified(in, *schema, path);
    }
    schema->rules_below = !schema->rules.empty() || child_has_rules(*schema);
    if (level != Level::kNested) cel::compile_rules(*schema, level == Level::kRoot, path, rule_errors_);
    return schema;
  }

  // Of rules that do not compile; told apart because they count only when the structure is sound.
  const FieldErrors& rule_errors() const { return rule_errors_; }

 private:
  void refuse_keywords(const JsonObject& in, const std::string& path) {
    for (const Refused& refused : kRefused) {
      const Json* value = in.if_contains(refused.key);
      if (value == nullptr || value->is_null() || (value->is_bool() && !value->get_bool())) continue;
      errors_.push_back(api::forbidden_field(api::field_path(path, refused.key), refused.detail));
    }
    if (flag(in, "uniqueItems")) {
      errors_.push_back(api::forbidden_field(
          api::field_path(path, "uniqueItems"),
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
      errors_.push_back(api::forbidden_field(api::field_path(path, "items"),
                                             "items must be a schema object and not an array"));
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
      out.expression = compile_pattern(out.pattern);
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
      errors_.push_back(api::invalid_value(api::field_path(path, "x-kubernetes-preserve-unknown-fields"),
                                           *value, "must be true or undefined"));
    }
    std::string_view list = text(in, "x-kubernetes-list-type");
    if (list == "map") out.list_type = ListType::kMap;
    if (list == "set") out.list_type = ListType::kSet;
    out.atomic_list = list == "atomic";
    if (!list.empty() && list != "map" && list != "set" && list != "atomic") {
      errors_.push_back(api::not_supported(api::field_path(path, "x-kubernetes-list-type"), Json(list),
                                           {"atomic", "map", "set"}));
    }
    for (const Json& key : array_in(in, "x-kubernetes-list-map-keys")) {
      if (key.is_string()) out.list_map_keys.emplace_back(view(key.get_string()));
    }
    std::string_view map = text(in, "x-kubernetes-map-type");
    out.atomic_map = map == "atomic";
    if (!map.empty() && map != "atomic" && map != "granular") {
      errors_.push_back(api::not_supported(api::field_path(path, "x-kubernetes-map-type"), Json(map),
                                           {"atomic", "granular"}));
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

  void read_children(const JsonObject& in, Schema& out, const std::string& path, Level level) {
    Level items = level == Level::kNested ? Level::kNested : Level::kItem;
    Level fields = level == Level::kNested ? Level::kNested : Level::kField;
    if (const Json* value = in.if_contains("items"); value != nullptr && value->is_object()) {
      out.items = node(*value, api::field_path(path, "items"), items);
    } else if (out.type == SchemaType::kArray && level != Level::kNested) {
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

  // A branch of anyOf and the like may not change the structure; only `anyOf: [{type: integer}, {type:
  // string}]` of an int-or-string may name types, also one level down in an allOf.
  SchemaPtr branch(const Json& json, const std::string& path, bool int_or_string) {
    int_or_string_ = int_or_string;
    SchemaPtr result = node(json, path, Level::kNested);
    int_or_string_ = false;
    return result;
  }

  void check_nested(const JsonObject& in, const std::string& path) {
    static constexpr std::array<std::string_view, 5> kEmpty = {
        "type", "default", "additionalProperties", "nullable", "x-kubernetes-preserve-unknown-fields"};
    for (std::string_view key : kEmpty) {
      const Json* value = in.if_contains(key);
      if (value == nullptr || (key == "type" && int_or_string_)) continue;
      errors_.push_back(api::forbidden_field(api::field_path(path, key), "must be empty to be structural"));
    }
    static constexpr std::array<std::string_view, 5> kFalse = {
        "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys", "x-kubernetes-map-type"};
    for (std::string_view key : kFalse) {
      if (in.if_contains(key) == nullptr) continue;
      errors_.push_back(
          api::forbidden_field(api::field_path(path, key), "must be undefined to be structural"));
    }
  }

  void check_structure(const JsonObject& in, const Schema& schema, const std::string& path, Level level) {
    const std::string type_path = api::field_path(path, "type");
    std::string_view type = text(in, "type");
    if (schema.embedded_resource && type != "object") {
      constexpr std::string_view kDetail = "must be object if x-kubernetes-embedded-resource is true";
      errors_.push_back(type.empty() ? api::required(type_path, kDetail)
                                     : api::invalid_value(type_path, Json(type), kDetail));
    } else if (type.empty() && !schema.int_or_string && !schema.preserve_unknown) {
      std::string_view where = level == Level::kRoot   ? "at the root"
                               : level == Level::kItem ? "for specified array items"
                                                       : "for specified object fields";
      errors_.push_back(api::required(type_path, "must not be empty " + std::string(where)));
    }
    if (schema.embedded_resource && (schema.additional || schema.additional_allowed)) {
      errors_.push_back(api::forbidden_field(api::field_path(path, "additionalProperties"),
                                             "must not be used if x-kubernetes-embedded-resource is set"));
    }
    if (schema.embedded_resource && !schema.preserve_unknown && schema.properties.empty()) {
      errors_.push_back(api::required(api::field_path(path, "properties"),
                                      "must not be empty if x-kubernetes-embedded-resource is true without "
                                      "x-kubernetes-preserve-unknown-fields"));
    }
    if (level == Level::kRoot && !type.empty() && type != "object") {
      errors_.push_back(api::invalid_value(type_path, Json(type), "must be object at the root"));
    }
    if (level == Level::kRoot && (schema.additional || schema.additional_allowed)) {
      errors_.push_back(api::forbidden_field(api::field_path(path, "additionalProperties"),
                                             "must not be used at the root"));
    }
    if (schema.int_or_string && !type.empty()) {
      errors_.push_back(
          api::invalid_value(type_path, Json(type), "must be empty if x-kubernetes-int-or-string is true"));
    }
    if (schema.int_or_string && schema.preserve_unknown) {
      errors_.push_back(api::invalid_value(api::field_path(path, "x-kubernetes-preserve-unknown-fields"),
                                           Json(true),
                                           "must be false if x-kubernetes-int-or-string is true"));
    }
    if (level == Level::kRoot || schema.embedded_resource) check_type_meta(schema, path);
  }

  void check_type_meta(const Schema& schema, const std::string& path) {
    const std::string properties = api::field_path(path, "properties");
    for (std::string_view key : {"apiVersion", "kind"}) {
      auto it = schema.properties.find(key);
      if (it == schema.properties.end() || it->second->type == SchemaType::kString) continue;
      errors_.push_back(api::invalid_value(api::field_path(api::key_path(properties, key), "type"),
                                           Json(type_name(it->second->type)), "must be string"));
    }
    auto it = schema.properties.find("metadata");
    if (it == schema.properties.end()) return;
    const Schema& meta = *it->second;
    const std::string meta_path = api::key_path(properties, "metadata");
    if (meta.type != SchemaType::kObject) {
      errors_.push_back(api::invalid_value(api::field_path(meta_path, "type"), Json(type_name(meta.type)),
                                           "must be object"));
    }
    bool more = meta.additional || meta.default_value || !meta.required.empty() || !meta.rules.empty() ||
                meta.preserve_unknown;
    for (const auto& [name, child] : meta.properties)
      more = more || (name != "name" && name != "generateName");
    if (more) {
      errors_.push_back(api::forbidden_field(meta_path,
                                             "must not specify anything other than name and generateName, "
                                             "but metadata is implicitly specified"));
    }
  }

  // What branches mention must be specified outside of them, or it would be pruned.
  void check_specified(const JsonObject& in, const Schema& schema, const std::string& path) {
    auto each = [&](std::string_view key, const std::vector<SchemaPtr>& branches) {
      for (std::size_t i = 0; i < branches.size(); ++i) {
        check_branch(*branches[i], schema, api::index_path(api::field_path(path, key), i));
      }
    };
    each("allOf", schema.all_of);
    each("anyOf", schema.any_of);
    each("oneOf", schema.one_of);
    if (schema.not_) check_branch(*schema.not_, schema, api::field_path(path, "not"));
    (void)in;
  }

  void check_branch(const Schema& branch, const Schema& outer, const std::string& path) {
    for (const auto& [name, child] : branch.properties) {
      std::string child_path = api::key_path(api::field_path(path, "properties"), name);
      auto it = outer.properties.find(name);
      if (it == outer.properties.end()) {
        if (outer.additional) {
          check_branch(*child, *outer.additional, child_path);
        } else if (!outer.preserve_unknown) {
          errors_.push_back(api::required(
              child_path, "because it is defined in the branch, it must be specified outside of it"));
        }
        continue;
      }
      check_branch(*child, *it->second, child_path);
    }
    if (branch.items) {
      if (!outer.items) {
        errors_.push_back(
            api::required(api::field_path(path, "items"),
                          "because it is defined in the branch, it must be specified outside of it"));
      } else {
        check_branch(*branch.items, *outer.items, api::field_path(path, "items"));
      }
    }
    for (const SchemaPtr& inner : branch.all_of) check_branch(*inner, outer, api::field_path(path, "allOf"));
    for (const SchemaPtr& inner : branch.any_of) check_branch(*inner, outer, api::field_path(path, "anyOf"));
    for (const SchemaPtr& inner : branch.one_of) check_branch(*inner, outer, api::field_path(path, "oneOf"));
  }

  void check_list_type(const JsonObject& in, const Schema& schema, const std::string& path) {
    const bool has_list_type = in.if_contains("x-kubernetes-list-type") != nullptr;
    const std::string keys_path = api::field_path(path, "x-kubernetes-list-map-keys");
    if (has_list_type && schema.type != SchemaType::kArray) {
      std::string_view type = text(in, "type");
      errors_.push_back(type.empty()
                            ? api::required(api::field_path(path, "type"),
                                            "must be array if x-kubernetes-list-type is specified")
                            : api::invalid_value(api::field_path(path, "type"), Json(type),
                                                 "must be array if x-kubernetes-list-type is specified"));
      return;
    }
    if (in.if_contains("x-kubernetes-map-type") != nullptr && schema.type != SchemaType::kObject) {
      errors_.push_back(api::invalid_value(api::field_path(path, "type"), Json(text(in, "type")),
                                           "must be object if x-kubernetes-map-type is specified"));
    }
    if (!schema.list_map_keys.empty() && schema.list_type != ListType::kMap) {
      errors_.push_back(has_list_type
                            ? api::invalid_value(api::field_path(path, "x-kubernetes-list-type"),
                                                 Json(text(in, "x-kubernetes-list-type")),
                                                 "must be map if x-kubernetes-list-map-keys is non-empty")
                            : api::required(api::field_path(path, "x-kubernetes-list-type"),
                                            "must be map if x-kubernetes-list-map-keys is non-empty"));
    }
    if (schema.list_type == ListType::kMap) check_map_keys(schema, path, keys_path);
    if (schema.list_type == ListType::kSet && schema.items) check_set_items(*schema.items, path);
  }

  void check_map_keys(const Schema& schema, const std::string& path, const std::string& keys_path) {
    if (schema.list_map_keys.empty()) {
      errors_.push_back(api::required(keys_path, "must not be empty if x-kubernetes-list-type is map"));
    }
    if (!schema.items) return;  // already reported
    if (schema.items->type != SchemaType::kObject) {
      errors_.push_back(api::invalid_value(api::field_path(api::field_path(path, "items"), "type"),
                                           Json(type_name(schema.items->type)),
                                           "must be object if parent array's x-kubernetes-list-type is map"));
      return;
    }
    Json all_keys(JsonArray(schema.list_map_keys.begin(), schema.list_map_keys.end()));
    for (std::size_t i = 0; i < schema.list_map_keys.size(); ++i) {
      const std::string& key = schema.list_map_keys[i];
      if (std::find(schema.list_map_keys.begin(),
                    schema.list_map_keys.begin() + static_cast<std::ptrdiff_t>(i),
                    key) != schema.list_map_keys.begin() + static_cast<std::ptrdiff_t>(i)) {
        errors_.push_back(api::duplicate(api::index_path(keys_path, i), Json(key)));
        continue;
      }
      auto it = schema.items->properties.find(key);
      if (it == schema.items->properties.end()) {
        errors_.push_back(
            api::invalid_value(keys_path, all_keys, "entries must all be names of item properties"));
        continue;
      }
      const std::string key_schema =
          api::key_path(api::field_path(api::field_path(path, "items"), "properties"), key);
      if (it->second->type == SchemaType::kArray || it->second->type == SchemaType::kObject) {
        errors_.push_back(
            api::invalid_value(api::field_path(key_schema, "type"), Json(type_name(it->second->type)),
                               "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      }
      const auto& required = schema.items->required;
      if (!it->second->default_value && std::find(required.begin(), required.end(), key) == required.end()) {
        errors_.push_back(api::required(api::field_path(key_schema, "default"),
                                        "this property is in x-kubernetes-list-map-keys, so it must have a "
                                        "default or be a required property"));
      }
    }
  }

  void check_set_items(const Schema& items, const std::string& path) {
    if (items.nullable) {
      errors_.push_back(api::forbidden_field(api::field_path(api::field_path(path, "items"), "nullable"),
                                             "cannot be nullable when x-kubernetes-list-type is set"));
    }
    if (items.type == SchemaType::kArray && items.list_type != ListType::kAtomic) {
      errors_.push_back(api::invalid_value(
          api::field_path(api::field_path(path, "items"), "x-kubernetes-list-type"), Json("set"),
          "must be atomic as item of a list with x-kubernetes-list-type=set"));
    }
    if (items.type == SchemaType::kObject && !items.atomic_map) {
      errors_.push_back(
          api::invalid_value(api::field_path(api::field_path(path, "items"), "x-kubernetes-map-type"), Json(),
                             "must be atomic as item of a list with x-kubernetes-list-type=set"));
    }
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
    constexpr double kLargest = 9e18;  // fits an int64, as servers hold these limits
    if (!value || *value < 0 || *value > kLargest) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }

  FieldErrors& errors_;
  FieldErrors rule_errors_;
  bool int_or_string_ = false;
};

}  // namespace

std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(8 << 20);
  return std::make_shared<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

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
  std::shared_ptr<Schema> schema = compiler.node(openapi, std::string(path), Level::kRoot);
  if (errors.size() != before) return schema;
  check_defaults(*schema, path, errors);
  errors.insert(errors.end(), compiler.rule_errors().begin(), compiler.rule_errors().end());
  if (errors.size() == before && schema->rules_below) cel::check_costs(*schema, path, errors);
  return schema;
}

}  // namespace berth::apiserver
