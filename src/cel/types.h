// Static types of CEL expressions, with the maximum size of their values.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "cel/schema.h"

namespace berth::cel {

enum class Kind : std::uint8_t {
  kDyn,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,
  kMap,
  kObject,
  kQuantity,
  kOptional,
  kType
};

constexpr std::uint64_t kUnknownSize = std::numeric_limits<std::uint64_t>::max();

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Type {
  Kind kind = Kind::kDyn;
  TypePtr key, element;            // for maps, lists and optionals
  const Schema* schema = nullptr;  // for kObject: the schema with the fields
  bool is_resource = false;        // for kObject: apiVersion, kind and metadata are fields, too
  std::uint64_t max_size = 0;      // entries of lists and maps, bytes of strings; kUnknownSize when unbounded
};

TypePtr basic_type(Kind kind);  // strings and bytes have unknown size
TypePtr list_type(TypePtr element, std::uint64_t max_size = kUnknownSize);
TypePtr map_type(TypePtr key, TypePtr value, std::uint64_t max_size = kUnknownSize);
TypePtr optional_type(TypePtr element);

// The type that rules see for a value of the schema. The schema must outlive the type.
TypePtr type_of_schema(const Schema& schema, bool is_root);
// The type of a field of an object type, or null. Names are as in the document.
TypePtr field_type(const Type& object, std::string_view field);

// Whether a value of one type may be used as the other; dyn is assignable to every type.
bool assignable(const Type& a, const Type& b);
std::string to_string(const Type& type);  // "list(string)"

// Field names that are not CEL identifiers are escaped in expressions: "a-b" as "a__dash__b". This reverses it; empty
// when `name` is not an escaped name.
std::string unescape_field(std::string_view name);

// The maximum request size in bytes: the bound of a value's size.
constexpr std::uint64_t kMaxRequest = 3u << 20;
// The maximum number of entries of a list or map: its own limit, or the number of smallest entries that fit in a
// request.
std::uint64_t max_entries(const Schema& schema);

}  // namespace berth::cel
