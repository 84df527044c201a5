// JSON values: Boost.JSON's DOM behind one name, with Kubernetes' limits on parsing.
//
// Objects keep the order of insertion. Integers are int64 (uint64 above that), others double; quantities are strings.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;
using JsonPtr = std::shared_ptr<const Json>;  // an immutable document that several owners share

struct JsonLimits {
  std::size_t max_bytes = 3u << 20;  // as the API server's request limit
  std::size_t max_depth = 256;       // CRD schemas nest deeper than Boost's default of 32
};

// Parses one document. Errors say line and column. On duplicate keys the last one wins and the key's path is
// appended to `duplicates` (e.g. "data.a") when given.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {},
                        std::vector<std::string>* duplicates = nullptr);

std::string to_string(const Json& value);         // compact, no spaces
std::string to_pretty_string(const Json& value);  // two-space indentation, as kubectl -o json prints

// Equal as Kubernetes compares: objects without regard to key order, 1 == 1.0 for integral doubles.
bool json_equal(const Json& a, const Json& b);

// Text with object keys sorted at every level: equal values give equal texts. For hashes and comparisons.
std::string canonical_json(const Json& value);

// Reading without exceptions. A step is an object key; a missing key or a value of another type ends the walk.
const Json* find(const Json& value, std::string_view key);                               // nullptr when absent
const Json* find_path(const Json& value, std::initializer_list<std::string_view> keys);  // nullptr when absent
std::string_view string_at(const Json& value, std::initializer_list<std::string_view> keys,
                           std::string_view otherwise = {});
std::int64_t int_at(const Json& value, std::initializer_list<std::string_view> keys, std::int64_t otherwise = 0);
bool bool_at(const Json& value, std::initializer_list<std::string_view> keys, bool otherwise = false);
std::optional<std::int64_t> optional_int_at(const Json& value, std::initializer_list<std::string_view> keys);
std::optional<std::int32_t> optional_int32_at(const Json& value, std::initializer_list<std::string_view> keys);
const JsonArray& array_at(const Json& value, std::initializer_list<std::string_view> keys);    // empty when absent
const JsonObject& object_at(const Json& value, std::initializer_list<std::string_view> keys);  // empty when absent

// Creates the objects along the path and returns the member at its end, null when it is new. Replaces a value on the
// path that is not an object.
Json& ensure_path(Json& value, std::initializer_list<std::string_view> keys);
// Removes the member at the path; true when it was there.
bool erase_path(Json& value, std::initializer_list<std::string_view> keys);

inline std::string_view view(const boost::json::string& s) { return {s.data(), s.size()}; }

}  // namespace berth
