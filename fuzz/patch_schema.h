// A schema with all kinds of merging, for the fuzz targets of patches.
#pragma once

#include <memory>
#include <utility>

#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver::fuzzing {

inline const Schema& patch_schema() {
  static const std::shared_ptr<const Schema> schema = [] {
    const auto make = [](SchemaType type) {
      auto node = std::make_shared<Schema>();
      node->type = type;
      return node;
    };
    auto item = make(SchemaType::kObject);
    item->properties = {{"name", make(SchemaType::kString)}, {"port", make(SchemaType::kInteger)}};
    auto items = make(SchemaType::kArray);
    items->list_type = ListType::kMap;
    items->list_map_keys = {"name", "port"};
    items->patch_merge_key = "name";
    items->patch_merge = true;
    item->properties.emplace("items", items);  // one nested level of the same list
    auto plain = make(SchemaType::kObject);
    plain->preserve_unknown = true;
    items->items = plain;
    auto outer = std::make_shared<Schema>(*items);
    outer->items = item;
    outer->list_map_keys = {"name"};
    auto tags = make(SchemaType::kArray);
    tags->list_type = ListType::kSet;
    tags->patch_merge = true;
    tags->items = make(SchemaType::kString);
    auto whole = make(SchemaType::kObject);
    whole->atomic_map = true;
    whole->additional = make(SchemaType::kString);
    auto map = make(SchemaType::kObject);
    map->additional = make(SchemaType::kString);
    auto root = make(SchemaType::kObject);
    root->properties = {{"items", outer}, {"tags", tags}, {"whole", whole}, {"map", map}, {"free", plain}};
    return root;
  }();
  return *schema;
}

}  // namespace berth::apiserver::fuzzing
