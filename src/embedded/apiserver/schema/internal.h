// Helpers that the files of this folder share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/field_error.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

std::string_view type_name(SchemaType type);  // "object", ...; "" for kAny
double as_double(const Json& number);         // 0 when it is not a number

// The type name of a value in messages: "object", "array", "string", "integer", "number", "boolean", "null".
std::string_view kind_of(const Json& value);

// Whether a string has the format. True for formats that Kubernetes does not check.
bool has_format(std::string_view value, std::string_view format);

// The position of a node in the schema document; kNested: inside anyOf, allOf, oneOf or not.
enum class NodeLevel { kRoot, kField, kItem, kNested };
// Appends errors for a node that is not structural or whose list type does not fit. `types_allowed`: nested nodes may
// specify types, as in `anyOf: [{type: integer}, {type: string}]` of an int-or-string.
void check_node(const JsonObject& in, const Schema& schema, const std::string& path, NodeLevel level,
                bool types_allowed, api::FieldErrors& errors);

// Checks that defaults are valid for their schema and contain nothing that would be pruned.
void check_defaults(const Schema& schema, std::string_view path, api::FieldErrors& errors);

// Reports duplicates in lists of type set and map, and items of a map list with missing or invalid keys.
void check_list_types(const Json& object, const Schema& schema, const std::string& path, api::FieldErrors& errors);

// Finds the items of a list of type map by their keys.
class MapItems {
 public:
  MapItems() = default;  // no items
  // Both must outlive it. No items unless `list` is a list, and the schema says that its items have keys.
  MapItems(const Json* list, const Schema& list_schema);

  // The first item with the same keys; null when there is none, or when an item asked for it before: keys are unique,
  // so the second one is refused, and must not be compared with all that the first one has.
  const Json* take(const Json& item);

 private:
  const Schema* schema_ = nullptr;
  std::unordered_map<std::string, const Json*> items_;  // by the text of their keys
};

}  // namespace berth::apiserver
