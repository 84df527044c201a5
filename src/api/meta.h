// Object metadata and conditions as values.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace berth::api {

using StringMap = std::map<std::string, std::string, std::less<>>;

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool block_owner_deletion = false;
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Time creation{};
  std::optional<Time> deletion;
  StringMap labels;
  StringMap annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;
  bool operator==(const ObjectMeta&) const = default;
};
ObjectMeta decode_meta(const Json& object);  // lenient: fields that are absent or of a wrong type stay empty
Json encode_meta(const ObjectMeta& meta);    // the value of .metadata; empty fields are left out

StringMap decode_string_map(const Json& object);  // lenient, as decode_meta
Json encode_string_map(const StringMap& map);

// "namespace/name", or "name" for cluster-scoped objects: the key of caches and logs.
std::string object_key(const ObjectMeta& meta);
std::string object_key(std::string_view ns, std::string_view name);
std::string object_key(const Json& object);
// Reads the RFC 3339 time at `path`; nullopt when it is absent or invalid.
std::optional<Time> time_at(const Json& value, std::initializer_list<std::string_view> path);
std::string_view resource_version(const Json& object);  // metadata.resourceVersion; "" when there is none

struct Condition {
  std::string type;
  bool status = false;   // the status is "True"
  bool unknown = false;  // the status is "Unknown"; then `status` is false
  std::string reason;
  std::string message;  // cut to 32 KiB
  Time last_transition{};
  std::int64_t observed_generation = 0;
  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;

Conditions decode_conditions(const Json& array);
Json encode_conditions(const Conditions& conditions);
const Condition* find_condition(const Conditions& conditions, std::string_view type);  // nullptr when absent
bool is_true(const Conditions& conditions, std::string_view type);
// Adds or replaces a condition by type; keeps the transition time when the status is the same. True when it changed.
bool set_condition(Conditions& conditions, Condition condition);
bool remove_condition(Conditions& conditions, std::string_view type);

}  // namespace berth::api
