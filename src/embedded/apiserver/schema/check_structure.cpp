// Checks that a schema is structural, and the requirements of list types.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "embedded/apiserver/schema/internal.h"

namespace berth::apiserver {
namespace {

using api::FieldErrors;

std::string_view text(const JsonObject& in, std::string_view key) {
  const Json* value = in.if_contains(key);
  return value != nullptr && value->is_string() ? view(value->get_string()) : std::string_view();
}

class StructureCheck {
 public:
  explicit StructureCheck(FieldErrors& errors) : errors_(errors) {}

  void check_nested(const JsonObject& in, const std::string& path, bool types_allowed) {
    static constexpr std::array<std::string_view, 5> kEmpty = {"type", "default", "additionalProperties", "nullable",
                                                               "x-kubernetes-preserve-unknown-fields"};
    for (std::string_view key : kEmpty) {
      const Json* value = in.if_contains(key);
      if (value == nullptr || (key == "type" && types_allowed)) continue;
      errors_.push_back(api::forbidden_field(api::field_path(path, key), "must be empty to be structural"));
    }
    static constexpr std::array<std::string_view, 5> kFalse = {"x-kubernetes-embedded-resource",
                                                               "x-kubernetes-int-or-string", "x-kubernetes-list-type",
                                                               "x-kubernetes-list-map-keys", "x-kubernetes-map-type"};
    for (std::string_view key : kFalse) {
      if (in.if_contains(key) == nullptr) continue;
      errors_.push_back(api::forbidden_field(api::field_path(path, key), "must be undefined to be structural"));
    }
  }

  void check_structure(const JsonObject& in, const Schema& schema, const std::string& path, NodeLevel level) {
    const std::string type_path = api::field_path(path, "type");
    std::string_view type = text(in, "type");
    if (schema.embedded_resource && type != "object") {
      constexpr std::string_view kDetail = "must be object if x-kubernetes-embedded-resource is true";
      errors_.push_back(type.empty() ? api::required(type_path, kDetail)
                                     : api::invalid_value(type_path, Json(type), kDetail));
    } else if (type.empty() && !schema.int_or_string && !schema.preserve_unknown) {
      std::string_view where = level == NodeLevel::kRoot   ? "at the root"
                               : level == NodeLevel::kItem ? "for specified array items"
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
    if (level == NodeLevel::kRoot && !type.empty() && type != "object") {
      errors_.push_back(api::invalid_value(type_path, Json(type), "must be object at the root"));
    }
    if (level == NodeLevel::kRoot && (schema.additional || schema.additional_allowed)) {
      errors_.push_back(
          api::forbidden_field(api::field_path(path, "additionalProperties"), "must not be used at the root"));
    }
    if (schema.int_or_string && !type.empty()) {
      errors_.push_back(
          api::invalid_value(type_path, Json(type), "must be empty if x-kubernetes-int-or-string is true"));
    }
    if (schema.int_or_string && schema.preserve_unknown) {
      errors_.push_back(api::invalid_value(api::field_path(path, "x-kubernetes-preserve-unknown-fields"), Json(true),
                                           "must be false if x-kubernetes-int-or-string is true"));
    }
    if (level == NodeLevel::kRoot || schema.embedded_resource) check_type_meta(schema, path);
  }

  void check_specified(const Schema& schema, const std::string& path) {
    auto each = [&](std::string_view key, const std::vector<SchemaPtr>& branches) {
      for (std::size_t i = 0; i < branches.size(); ++i) {
        check_branch(*branches[i], schema, api::index_path(api::field_path(path, key), i));
      }
    };
    each("allOf", schema.all_of);
    each("anyOf", schema.any_of);
    each("oneOf", schema.one_of);
    if (schema.not_) check_branch(*schema.not_, schema, api::field_path(path, "not"));
  }

  void check_list_type(const JsonObject& in, const Schema& schema, const std::string& path) {
    const bool has_list_type = in.if_contains("x-kubernetes-list-type") != nullptr;
    const std::string keys_path = api::field_path(path, "x-kubernetes-list-map-keys");
    if (has_list_type && schema.type != SchemaType::kArray) {
      std::string_view type = text(in, "type");
      errors_.push_back(type.empty() ? api::required(api::field_path(path, "type"),
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
      errors_.push_back(has_list_type ? api::invalid_value(api::field_path(path, "x-kubernetes-list-type"),
                                                           Json(text(in, "x-kubernetes-list-type")),
                                                           "must be map if x-kubernetes-list-map-keys is non-empty")
                                      : api::required(api::field_path(path, "x-kubernetes-list-type"),
                                                      "must be map if x-kubernetes-list-map-keys is non-empty"));
    }
    if (schema.list_type == ListType::kMap) check_map_keys(schema, path, keys_path);
    if (schema.list_type == ListType::kSet && schema.items) check_set_items(*schema.items, path);
  }

 private:
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
      errors_.push_back(
          api::invalid_value(api::field_path(meta_path, "type"), Json(type_name(meta.type)), "must be object"));
    }
    bool more =
        meta.additional || meta.default_value || !meta.required.empty() || !meta.rules.empty() || meta.preserve_unknown;
    for (const auto& [name, child] : meta.properties) more = more || (name != "name" && name != "generateName");
    if (more) {
      errors_.push_back(api::forbidden_field(meta_path,
                                             "must not specify anything other than name and generateName, "
                                             "but metadata is implicitly specified"));
    }
  }

  // Fields that a branch mentions must also be specified outside of it; otherwise they would be pruned.
  void check_branch(const Schema& branch, const Schema& outer, const std::string& path) {
    for (const auto& [name, child] : branch.properties) {
      std::string child_path = api::key_path(api::field_path(path, "properties"), name);
      auto it = outer.properties.find(name);
      if (it == outer.properties.end()) {
        if (outer.additional) {
          check_branch(*child, *outer.additional, child_path);
        } else if (!outer.preserve_unknown) {
          errors_.push_back(
              api::required(child_path, "because it is defined in the branch, it must be specified outside of it"));
        }
        continue;
      }
      check_branch(*child, *it->second, child_path);
    }
    if (branch.items) {
      if (!outer.items) {
        errors_.push_back(api::required(api::field_path(path, "items"),
                                        "because it is defined in the branch, it must be specified outside of it"));
      } else {
        check_branch(*branch.items, *outer.items, api::field_path(path, "items"));
      }
    }
    for (const SchemaPtr& inner : branch.all_of) check_branch(*inner, outer, api::field_path(path, "allOf"));
    for (const SchemaPtr& inner : branch.any_of) check_branch(*inner, outer, api::field_path(path, "anyOf"));
    for (const SchemaPtr& inner : branch.one_of) check_branch(*inner, outer, api::field_path(path, "oneOf"));
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
    bool unknown_reported = false;  // the error shows all keys, so it comes once
    std::set<std::string_view> seen;
    const std::set<std::string_view> required(schema.items->required.begin(), schema.items->required.end());
    for (std::size_t i = 0; i < schema.list_map_keys.size(); ++i) {
      const std::string& key = schema.list_map_keys[i];
      if (!seen.insert(key).second) {
        errors_.push_back(api::duplicate(api::index_path(keys_path, i), Json(key)));
        continue;
      }
      auto it = schema.items->properties.find(key);
      if (it == schema.items->properties.end()) {
        if (!std::exchange(unknown_reported, true))
          errors_.push_back(api::invalid_value(keys_path, all_keys, "entries must all be names of item properties"));
        continue;
      }
      const std::string key_schema = api::key_path(api::field_path(api::field_path(path, "items"), "properties"), key);
      if (it->second->type == SchemaType::kArray || it->second->type == SchemaType::kObject) {
        errors_.push_back(api::invalid_value(api::field_path(key_schema, "type"), Json(type_name(it->second->type)),
                                             "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      }
      if (!it->second->default_value && !required.contains(key)) {
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
      errors_.push_back(api::invalid_value(api::field_path(api::field_path(path, "items"), "x-kubernetes-list-type"),
                                           Json("set"),
                                           "must be atomic as item of a list with x-kubernetes-list-type=set"));
    }
    if (items.type == SchemaType::kObject && !items.atomic_map) {
      errors_.push_back(api::invalid_value(api::field_path(api::field_path(path, "items"), "x-kubernetes-map-type"),
                                           Json(), "must be atomic as item of a list with x-kubernetes-list-type=set"));
    }
  }

  FieldErrors& errors_;
};

}  // namespace

void check_node(const JsonObject& in, const Schema& schema, const std::string& path, NodeLevel level,
                bool types_allowed, FieldErrors& errors) {
  StructureCheck check(errors);
  check.check_list_type(in, schema, path);
  if (level == NodeLevel::kNested) return check.check_nested(in, path, types_allowed);
  check.check_structure(in, schema, path, level);
  check.check_specified(schema, path);
}

}  // namespace berth::apiserver
