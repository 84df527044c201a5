// Schemas for patch tests: small kinds with every merge strategy of lists and maps.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/yaml.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver::patch_tests {

using Node = std::shared_ptr<Schema>;

inline Json yaml(std::string_view text) {
  auto documents = parse_yaml(text);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "test YAML cannot be read: " << text;
    return nullptr;
  }
  return std::move(documents->front());
}

inline Node scalar(SchemaType type = SchemaType::kString) {
  auto node = std::make_shared<Schema>();
  node->type = type;
  return node;
}

inline Node object(std::vector<std::pair<std::string, SchemaPtr>> properties) {
  auto node = std::make_shared<Schema>();
  node->type = SchemaType::kObject;
  for (auto& [name, schema] : properties) node->properties.emplace(name, schema);
  return node;
}

inline Node map_of(SchemaPtr value) {
  auto node = std::make_shared<Schema>();
  node->type = SchemaType::kObject;
  node->additional = std::move(value);
  return node;
}

inline Node list_of(SchemaPtr item) {
  auto node = std::make_shared<Schema>();
  node->type = SchemaType::kArray;
  node->items = std::move(item);
  return node;
}

inline Node set_of(SchemaPtr item) {
  auto node = list_of(std::move(item));
  node->list_type = ListType::kSet;
  node->patch_merge = true;
  return node;
}

inline Node keyed_list(SchemaPtr item, std::vector<std::string> keys) {
  auto node = list_of(std::move(item));
  node->list_type = ListType::kMap;
  node->patch_merge = true;
  node->patch_merge_key = keys.front();
  node->list_map_keys = std::move(keys);
  return node;
}

// A ConfigMap.
inline const Schema& config_map() {
  static const Node schema = object({{"data", map_of(scalar())}, {"immutable", scalar(SchemaType::kBoolean)}});
  return *schema;
}

// A kind with every list and map type: spec.{replicas, paused, selector (atomic map), items (by name, with ports by
// port and protocol), tags (set), args (atomic list), free (anything)}, status.conditions (by type).
inline const Schema& everything() {
  static const Node schema = [] {
    auto protocol = scalar();
    protocol->default_value = Json("TCP");
    auto port = object({{"port", scalar(SchemaType::kInteger)}, {"protocol", protocol}, {"label", scalar()}});
    auto item = object({{"name", scalar()},
                        {"image", scalar()},
                        {"limits", map_of(scalar())},
                        {"ports", keyed_list(port, {"port", "protocol"})}});
    auto selector = map_of(scalar());
    selector->atomic_map = true;
    auto free = object({});
    free->preserve_unknown = true;
    auto condition = object({{"type", scalar()}, {"status", scalar()}, {"reason", scalar()}});
    return object({{"spec", object({{"replicas", scalar(SchemaType::kInteger)},
                                    {"paused", scalar(SchemaType::kBoolean)},
                                    {"selector", selector},
                                    {"items", keyed_list(item, {"name"})},
                                    {"tags", set_of(scalar())},
                                    {"args", list_of(scalar())},
                                    {"free", free}})},
                   {"status", object({{"phase", scalar()}, {"conditions", keyed_list(condition, {"type"})}})}});
  }();
  return *schema;
}

}  // namespace berth::apiserver::patch_tests
