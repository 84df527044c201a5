// Values at evaluation time of a CEL expression. https://github.com/google/cel-spec/blob/master/doc/langdef.md#values
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/quantity.h"
#include "base/result.h"
#include "base/time.h"
#include "cel/schema.h"

namespace berth::cel {

struct Value;

struct Null {};
struct Text {  // a view into the document or into `owned`
  std::shared_ptr<const std::string> owned;
  std::string_view view;
};
struct Bytes {
  std::shared_ptr<const std::string> data;
};
struct Tree {  // an object or array of the document, with its schema (null when the schema does not cover it)
  const Json* json = nullptr;
  const Schema* schema = nullptr;
};
using List = std::shared_ptr<const std::vector<Value>>;
struct Map {
  std::shared_ptr<const std::vector<std::pair<Value, Value>>> entries;
  std::shared_ptr<const Value> otherwise{};  // what the operator [] returns for other keys; null: it fails
};
struct Optional {
  std::shared_ptr<const Value> value;  // null: the optional is empty
};
struct TypeName {
  std::string_view name;
};
struct Failure {  // an error; logical operators may still ignore it
  std::shared_ptr<const std::string> message;
};

struct Value : std::variant<Null, bool, std::int64_t, std::uint64_t, double, Text, Bytes, Duration, Time, Tree, List,
                            Map, Optional, Quantity, TypeName, Failure> {
  using variant::variant;
  template <typename T>
  const T* as() const {
    return std::get_if<T>(static_cast<const variant*>(this));
  }
  bool failed() const { return as<Failure>() != nullptr; }
};

Value text(std::string owned);
Value failure(std::string message);
Value list_of(std::vector<Value> items);
// Converts a value of the document: scalars get the CEL type that the schema's type and format specify; objects and
// arrays stay references into the document.
Value from_json(const Json& json, const Schema* schema);

// A value as JSON: an empty optional is null, a time, a duration and a quantity are
// texts. An error for values that JSON does not have (bytes, types, failures, keys that are no strings) and for nesting
// above kMaxJsonDepth.
Result<Json> to_json(const Value& value);
constexpr int kMaxJsonDepth = 64;

// "int", "string", "list", "map", ...
std::string_view type_name(const Value& value);

bool is_list(const Value& value);
bool is_map(const Value& value);
std::size_t length(const Value& list_or_map);
Value item(const Value& list, std::size_t index);  // index < length
// The keys of a map, in document order.
std::vector<Value> keys(const Value& map);
// Looks up the member of a map; false when there is none.
bool member(const Value& map, const Value& key, Value& out);
bool member(const Value& map, std::string_view key, Value& out);

// CEL's ==: compares numbers by value whatever their type; values of different types are unequal.
bool equal(const Value& a, const Value& b);
// -1, 0 or 1; 2 when the two values cannot be ordered.
int compare(const Value& a, const Value& b);

}  // namespace berth::cel
