// Static types of CEL expressions, with how large their values can get.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "apiserver/schema/schema.h"

namespace berth::apiserver::cel {

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
  TypePtr key, element;            // of maps, lists and optionals
  const Schema* schema = nullptr;  // of objects: the fields
  bool is_resource = false;        // of objects: apiVersion, kind and metadata are fields, too
  std::uint64_t max_size =
      0;  // elements of lists and maps, bytes of strings; kUnknownSize when nothing limits it
};

TypePtr basic_type(Kind kind);  // strings and bytes of unknown size
TypePtr list_type(TypePtr element, std::uint64_t max_size = kUnknownSize);
TypePtr map_type(TypePtr key, TypePtr value, std::uint64_t max_size = kUnknownSize);
TypePtr optional_type(TypePtr element);

// What rules see of a value of the schema. The schema must outlive the type.
TypePtr type_of_schema(const Schema& schema, bool is_root);
// The field of an object type, or null. Names are as in the document.
TypePtr field_type(const Type& object, std::string_view field);

// Whether one may stand for the other; dyn stands for all.
bool assignable(const Type& a, const Type& b);
std::string to_string(const Type& type);  // "list(string)"

// Names in documents that are no CEL names are written escaped: "a-b" as "a__dash__b". Nothing when it is no
// escaped name.
std::string unescape_field(std::string_view name);

// The most a value can hold when the whole request is at most this large (bytes).
constexpr std::uint64_t kMaxRequest = 3u << 20;
// Entries a list or map can have at most, by its own limit or by the smallest text of an entry.
std::uint64_t max_entries(const Schema& schema);

}  // namespace berth::apiserver::cel
