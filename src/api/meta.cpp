#include "api/meta.h"

#include <algorithm>

#include "base/text.h"

namespace berth::api {
namespace {

constexpr std::size_t kMaxConditionMessage = 32768;  // of metav1.Condition

StringMap decode_strings(const JsonObject& object) {
  StringMap map;
  for (const auto& member : object)
    if (member.value().is_string()) map.emplace(member.key(), view(member.value().get_string()));
  return map;
}

std::optional<Time> decode_time(const Json& value, std::initializer_list<std::string_view> keys) {
  const Result<Time> time = parse_time(string_at(value, keys));
  return time ? std::optional(*time) : std::nullopt;
}

OwnerReference decode_owner(const Json& value) {
  OwnerReference owner;
  owner.api_version = string_at(value, {"apiVersion"});
  owner.kind = string_at(value, {"kind"});
  owner.name = string_at(value, {"name"});
  owner.uid = string_at(value, {"uid"});
  owner.controller = bool_at(value, {"controller"});
  owner.block_owner_deletion = bool_at(value, {"blockOwnerDeletion"});
  return owner;
}

}  // namespace

ObjectMeta decode_meta(const Json& object) {
  ObjectMeta meta;
  const Json* value = find(object, "metadata");
  if (!value) return meta;
  meta.name = string_at(*value, {"name"});
  meta.ns = string_at(*value, {"namespace"});
  meta.uid = string_at(*value, {"uid"});
  meta.resource_version = string_at(*value, {"resourceVersion"});
  meta.generation = int_at(*value, {"generation"});
  meta.creation = decode_time(*value, {"creationTimestamp"}).value_or(Time{});
  meta.deletion = decode_time(*value, {"deletionTimestamp"});
  meta.labels = decode_strings(object_at(*value, {"labels"}));
  meta.annotations = decode_strings(object_at(*value, {"annotations"}));
  const JsonArray &finalizers = array_at(*value, {"finalizers"}), &owners = array_at(*value, {"ownerReferences"});
  meta.finalizers.reserve(finalizers.size());
  meta.owners.reserve(owners.size());
  for (const Json& finalizer : finalizers)
    if (finalizer.is_string()) meta.finalizers.emplace_back(view(finalizer.get_string()));
  for (const Json& owner : owners) meta.owners.push_back(decode_owner(owner));
  return meta;
}

Json encode_meta(const ObjectMeta& meta) {
  JsonObject out;
  if (!meta.name.empty()) out["name"] = meta.name;
  if (!meta.ns.empty()) out["namespace"] = meta.ns;
  if (!meta.uid.empty()) out["uid"] = meta.uid;
  if (!meta.resource_version.empty()) out["resourceVersion"] = meta.resource_version;
  if (meta.generation != 0) out["generation"] = meta.generation;
  if (meta.creation != Time{}) out["creationTimestamp"] = format_time(meta.creation);
  if (meta.deletion) out["deletionTimestamp"] = format_time(*meta.deletion);
  if (!meta.labels.empty()) out["labels"] = encode_string_map(meta.labels);
  if (!meta.annotations.empty()) out["annotations"] = encode_string_map(meta.annotations);
  if (!meta.finalizers.empty()) out["finalizers"] = JsonArray(meta.finalizers.begin(), meta.finalizers.end());
  if (!meta.owners.empty()) {
    JsonArray owners;
    for (const OwnerReference& owner : meta.owners) {
      JsonObject one{{"apiVersion", owner.api_version}, {"kind", owner.kind}, {"name", owner.name}, {"uid", owner.uid}};
      if (owner.controller) one["controller"] = true;
      if (owner.block_owner_deletion) one["blockOwnerDeletion"] = true;
      owners.push_back(std::move(one));
    }
    out["ownerReferences"] = std::move(owners);
  }
  return out;
}

StringMap decode_string_map(const Json& object) {
  const JsonObject* members = object.if_object();
  return members ? decode_strings(*members) : StringMap();
}

Json encode_string_map(const StringMap& map) {
  JsonObject out;
  for (const auto& [key, value] : map) out.emplace(key, value);
  return out;
}

std::string object_key(const ObjectMeta& meta) { return object_key(meta.ns, meta.name); }

std::string object_key(std::string_view ns, std::string_view name) {
  if (ns.empty()) return std::string(name);
  return std::string(ns).append("/").append(name);
}

std::string object_key(const Json& object) {
  return object_key(string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"}));
}

std::string_view resource_version(const Json& object) { return string_at(object, {"metadata", "resourceVersion"}); }

std::optional<Time> time_at(const Json& value, std::initializer_list<std::string_view> path) {
  const auto time = parse_time(string_at(value, path));
  return time ? std::optional<Time>(*time) : std::nullopt;
}

Conditions decode_conditions(const Json& value) {
  Conditions conditions;
  const JsonArray* array = value.if_array();
  if (!array) return conditions;
  conditions.reserve(array->size());
  for (const Json& element : *array) {
    Condition c;
    c.type = string_at(element, {"type"});
    c.status = string_at(element, {"status"}) == "True";
    c.unknown = string_at(element, {"status"}) == "Unknown";
    c.reason = string_at(element, {"reason"});
    c.message = string_at(element, {"message"});
    c.last_transition = decode_time(element, {"lastTransitionTime"}).value_or(Time{});
    c.observed_generation = int_at(element, {"observedGeneration"});
    conditions.push_back(std::move(c));
  }
  return conditions;
}

Json encode_conditions(const Conditions& conditions) {
  JsonArray array;
  for (const Condition& c : conditions) {
    JsonObject one;
    one["type"] = c.type;
    one["status"] = c.status ? "True" : c.unknown ? "Unknown" : "False";
    if (c.observed_generation != 0) one["observedGeneration"] = c.observed_generation;
    one["lastTransitionTime"] = format_time(c.last_transition);
    one["reason"] = c.reason;
    one["message"] = cut_text(c.message, kMaxConditionMessage);
    array.push_back(std::move(one));
  }
  return array;
}

const Condition* find_condition(const Conditions& conditions, std::string_view type) {
  const auto it =
      std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

bool is_true(const Conditions& conditions, std::string_view type) {
  const Condition* condition = find_condition(conditions, type);
  return condition && condition->status;
}

bool set_condition(Conditions& conditions, Condition condition) {
  condition.message.resize(cut_text(condition.message, kMaxConditionMessage).size());
  const auto it =
      std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == condition.type; });
  if (it == conditions.end()) {
    conditions.push_back(std::move(condition));
    return true;
  }
  if (it->status == condition.status && it->unknown == condition.unknown)
    condition.last_transition = it->last_transition;
  if (*it == condition) return false;
  *it = std::move(condition);
  return true;
}

bool remove_condition(Conditions& conditions, std::string_view type) {
  return std::erase_if(conditions, [&](const Condition& c) { return c.type == type; }) > 0;
}

}  // namespace berth::api
