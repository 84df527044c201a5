// What the parts of this folder share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_error.h"
#include "apiserver/schema/schema.h"

namespace berth::apiserver {

// Never null; ok() tells whether it compiled. Linear time, as Go's regexp.
std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern);
std::string_view type_name(SchemaType type);  // "object", ...; "" for kAny
double as_double(const Json& number);         // 0 when it is no number

// What a value is called in messages: "object", "array", "string", "integer", "number", "boolean", "null".
std::string_view kind_of(const Json& value);

// Whether a string has the format; formats that are not known to servers are not checked.
bool has_format(std::string_view value, std::string_view format);

// Where a node of a schema's document is; kNested: in a branch of anyOf and the like.
enum class NodeLevel { kRoot, kField, kItem, kNested };
// Errors of a node that is not structural, or whose list type does not fit. `types_allowed`: nested nodes may
// name types, as in `anyOf: [{type: integer}, {type: string}]` of an int-or-string.
void check_node(const JsonObject& in, const Schema& schema, const std::string& path, NodeLevel level,
                bool types_allowed, api::FieldErrors& errors);

// Defaults must be valid for their schema and may hold nothing that would be pruned.
void check_defaults(const Schema& schema, std::string_view path, api::FieldErrors& errors);

// Duplicates in lists of type set and map, and items of a map list without usable keys.
void check_list_types(const Json& object, const Schema& schema, const std::string& path,
                      api::FieldErrors& errors);

// The item of `list` that has the same keys as `item`; null when there is none.
const Json* find_map_item(const JsonArray& list, const Json& item, const Schema& list_schema);

}  // namespace berth::apiserver
