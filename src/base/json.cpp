#include "base/json.h"

#include <limits>

#include "base/text.h"

namespace berth {
namespace {

namespace bj = boost::json;

const JsonArray& empty_array() {
  static const JsonArray empty;
  return empty;
}

const JsonObject& empty_object() {
  static const JsonObject empty;
  return empty;
}

}  // namespace

const Json* find(const Json& value, std::string_view key) {
  const JsonObject* object = value.if_object();
  return object ? object->if_contains(bj::string_view(key.data(), key.size())) : nullptr;
}

const Json* find_path(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = &value;
  for (const std::string_view key : keys) {
    at = find(*at, key);
    if (!at) return nullptr;
  }
  return at;
}

std::string_view string_at(const Json& value, std::initializer_list<std::string_view> keys,
                           std::string_view otherwise) {
  const Json* at = find_path(value, keys);
  const bj::string* text = at ? at->if_string() : nullptr;
  return text ? view(*text) : otherwise;
}

std::optional<std::int64_t> optional_int_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = find_path(value, keys);
  if (!at) return std::nullopt;
  if (const std::int64_t* number = at->if_int64()) return *number;
  // The parser stores what fits as signed. Code that builds a document may store sizes.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (const std::uint64_t* number = at->if_uint64(); number && *number <= kMost)
    return static_cast<std::int64_t>(*number);
  // JSON written by others may say 1.0 where 1 is meant; Kubernetes takes both.
  const double* number = at->if_double();
  if (number && *number >= -0x1p63 && *number < 0x1p63 &&
      static_cast<double>(static_cast<std::int64_t>(*number)) == *number)
    return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

std::optional<std::int32_t> optional_int32_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const auto number = optional_int_at(value, keys);
  return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

std::int64_t int_at(const Json& value, std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  return optional_int_at(value, keys).value_or(otherwise);
}

bool bool_at(const Json& value, std::initializer_list<std::string_view> keys, bool otherwise) {
  const Json* at = find_path(value, keys);
  const bool* flag = at ? at->if_bool() : nullptr;
  return flag ? *flag : otherwise;
}

const JsonArray& array_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = find_path(value, keys);
  const JsonArray* array = at ? at->if_array() : nullptr;
  return array ? *array : empty_array();
}

const JsonObject& object_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = find_path(value, keys);
  const JsonObject* object = at ? at->if_object() : nullptr;
  return object ? *object : empty_object();
}

Json& ensure_path(Json& value, std::initializer_list<std::string_view> keys) {
  Json* at = &value;
  for (const std::string_view key : keys) {
    if (!at->is_object()) at->emplace_object();
    at = &at->get_object()[bj::string_view(key.data(), key.size())];
  }
  return *at;
}

bool erase_path(Json& value, std::initializer_list<std::string_view> keys) {
  Json* at = &value;
  for (auto key = keys.begin(); key != keys.end(); ++key) {
    JsonObject* object = at->if_object();
    if (!object) return false;
    const auto member = object->find(bj::string_view(key->data(), key->size()));
    if (member == object->end()) return false;
    if (std::next(key) == keys.end()) {
      object->stable_erase(member);
      return true;
    }
    at = &member->value();
  }
  return false;
}

}  // namespace berth
