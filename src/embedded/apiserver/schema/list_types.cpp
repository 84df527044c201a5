// Enforces x-kubernetes-list-type: items of sets and keys of maps are unique.
#include <map>
#include <set>
#include <utility>

#include "embedded/apiserver/schema/internal.h"

namespace berth::apiserver {
namespace {

// The keys of a list item as an object. Keys that are not set get their default; usually defaulting has already
// filled them.
Json keys_of(const Json& item, const Schema& list_schema) {
  JsonObject keys;
  for (const std::string& key : list_schema.list_map_keys) {
    if (const Json* value = find(item, key)) {
      keys[key] = *value;
    } else if (list_schema.items) {
      auto it = list_schema.items->properties.find(key);
      if (it != list_schema.items->properties.end() && it->second->default_value)
        keys[key] = *it->second->default_value;
    }
  }
  return Json(std::move(keys));
}

void check_unique(const JsonArray& list, const Schema& schema, const std::string& path, api::FieldErrors& errors) {
  std::set<std::string> seen, reported;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (schema.list_type == ListType::kMap && !list[i].is_object()) continue;  // type errors are reported elsewhere
    Json value = schema.list_type == ListType::kMap ? keys_of(list[i], schema) : list[i];
    std::string text = canonical_json(value);
    if (seen.insert(text).second || !reported.insert(text).second) continue;
    errors.push_back(api::duplicate(api::index_path(path, i), value));
  }
}

}  // namespace

MapItems::MapItems(const Json* list, const Schema& list_schema) : schema_(&list_schema) {
  if (list == nullptr || !list->is_array() || list_schema.list_type != ListType::kMap) return;
  for (const Json& item : list->get_array()) {
    if (item.is_object()) items_.emplace(canonical_json(keys_of(item, list_schema)), &item);
  }
}

const Json* MapItems::take(const Json& item) {
  if (items_.empty() || !item.is_object()) return nullptr;
  const auto found = items_.find(canonical_json(keys_of(item, *schema_)));
  return found == items_.end() ? nullptr : std::exchange(found->second, nullptr);
}

void check_list_types(const Json& object, const Schema& schema, const std::string& path, api::FieldErrors& errors) {
  if (object.is_array()) {
    const JsonArray& list = object.get_array();
    if (schema.list_type != ListType::kAtomic) check_unique(list, schema, path, errors);
    if (!schema.items) return;
    for (std::size_t i = 0; i < list.size(); ++i)
      check_list_types(list[i], *schema.items, api::index_path(path, i), errors);
  } else if (object.is_object()) {
    for (const auto& [name, value] : object.get_object()) {
      if (!value.is_array() && !value.is_object()) continue;
      if (auto it = schema.properties.find(std::string_view(name)); it != schema.properties.end()) {
        check_list_types(value, *it->second, api::field_path(path, name), errors);
      } else if (schema.additional) {
        check_list_types(value, *schema.additional, api::key_path(path, name), errors);
      }
    }
  }
}

}  // namespace berth::apiserver
