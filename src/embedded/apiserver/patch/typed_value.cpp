#include "embedded/apiserver/patch/typed_value.h"

#include <map>
#include <utility>

#include "base/json_members.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

const Schema& object_meta() {
  static const SchemaPtr schema = meta_schema();
  return *schema;
}

bool is_scalar(const Json& value) { return !value.is_object() && !value.is_array(); }

// Whether an object type accepts any member: it allows additional ones, or specifies nothing.
bool takes_anything(const Schema& schema) {
  return schema.preserve_unknown || schema.additional_allowed ||
         (schema.properties.empty() && !schema.additional && !schema.embedded_resource);
}

void collect(const Json& value, const TypeRef& type, FieldSet& out);

void collect_list(const Json& value, const TypeRef& type, FieldSet& out) {
  for (const auto& item : value.get_array()) {
    const auto element = type.element(item);
    if (!element) continue;
    auto& entry = out.at(*element);
    entry.member = true;
    collect(item, type.item(), entry.below);
  }
}

// Collects the fields below a value; the caller decides whether the value itself is a member.
void collect(const Json& value, const TypeRef& type, FieldSet& out) {
  switch (type.shape(value)) {
    case TypeRef::Shape::kLeaf:
      return;
    case TypeRef::Shape::kSet:
    case TypeRef::Shape::kKeyedList:
      return collect_list(value, type, out);
    case TypeRef::Shape::kMap:
      break;
  }
  for (const auto& [key, child] : value.get_object()) {
    const auto member = type.member({key.data(), key.size()});
    FieldSet below;
    collect(child, member.type, below);
    const bool leaf = member.type.shape(child) == TypeRef::Shape::kLeaf;
    const bool empty_map = child.is_object() && child.get_object().empty();
    const bool self = leaf || empty_map || !member.named;
    if (!self && below.empty()) continue;
    auto& entry = out.at(PathElement::field({key.data(), key.size()}));
    entry.member = self;
    entry.below = std::move(below);
  }
}

class Remover {
 public:
  static void run(Json& value, const TypeRef& type, const FieldSet& last, const FieldSet& owned) {
    switch (type.shape(value)) {
      case TypeRef::Shape::kLeaf:
        return;
      case TypeRef::Shape::kMap:
        return run_map(value.get_object(), type, last, owned);
      case TypeRef::Shape::kSet:
      case TypeRef::Shape::kKeyedList:
        return run_list(value.get_array(), type, last, owned);
    }
  }

 private:
  // A schema field is owned by a manager that owns anything below it. A map key or list item is owned only if it is
  // in the set itself.
  static bool holds(const FieldSet::Entry* entry, bool named) {
    return entry != nullptr && (entry->member || (named && !entry->below.empty()));
  }

  static bool visit(Json& child, const TypeRef& type, bool named, const FieldSet::Entry& last,
                    const FieldSet::Entry* owned) {
    static const FieldSet kNone;
    if (holds(&last, named) && !holds(owned, named)) return false;
    if (!last.below.empty()) run(child, type, last.below, owned != nullptr ? owned->below : kNone);
    return true;
  }

  static void run_map(JsonObject& object, const TypeRef& type, const FieldSet& last, const FieldSet& owned) {
    erase_members_if(object, [&](auto& member) {
      const std::string_view name = member.key();
      const auto element = PathElement::field(name);
      const auto* entry = last.find(element);
      if (entry == nullptr) return false;
      const auto found = type.member(name);
      return !visit(member.value(), found.type, found.named, *entry, owned.find(element));
    });
  }

  static void run_list(JsonArray& array, const TypeRef& type, const FieldSet& last, const FieldSet& owned) {
    JsonArray kept;
    for (auto& item : array) {
      const auto element = type.element(item);
      const auto* entry = element ? last.find(*element) : nullptr;
      if (entry != nullptr && !visit(item, type.item(), false, *entry, owned.find(*element))) continue;
      kept.push_back(std::move(item));
    }
    array = std::move(kept);
  }
};

}  // namespace

TypeRef::Member TypeRef::member(std::string_view name) const {
  if (schema_ == nullptr) return {TypeRef(), false, true};
  if (has_metadata_ && name == "metadata") return {TypeRef(&object_meta(), false), true, true};
  const auto at = schema_->properties.find(name);
  if (at != schema_->properties.end()) {
    return {TypeRef(at->second.get(), at->second->embedded_resource), true, true};
  }
  if (has_metadata_ && (name == "apiVersion" || name == "kind")) return {TypeRef(), true, true};
  if (schema_->additional) {
    return {TypeRef(schema_->additional.get(), schema_->additional->embedded_resource), false, true};
  }
  return {TypeRef(), false, takes_anything(*schema_)};
}

TypeRef TypeRef::item() const {
  if (schema_ == nullptr || !schema_->items) return {};
  return TypeRef(schema_->items.get(), schema_->items->embedded_resource);
}

TypeRef::Shape TypeRef::shape(const Json& value) const {
  if (value.is_object()) {
    if (schema_ == nullptr) return Shape::kMap;
    return schema_->atomic_map ? Shape::kLeaf : Shape::kMap;
  }
  if (value.is_array() && schema_ != nullptr && schema_->type == SchemaType::kArray) {
    if (schema_->list_type == ListType::kSet) return Shape::kSet;
    if (schema_->list_type == ListType::kMap) return Shape::kKeyedList;
  }
  return Shape::kLeaf;
}

std::optional<PathElement> TypeRef::element(const Json& item) const {
  if (schema_->list_type == ListType::kSet) {
    if (!is_scalar(item)) return std::nullopt;
    return PathElement::value(item);
  }
  if (!item.is_object()) return std::nullopt;
  JsonObject keys;
  for (const auto& name : schema_->list_map_keys) {
    const Json* value = find(item, name);
    if (value == nullptr && schema_->items) {
      const auto property = schema_->items->properties.find(name);
      if (property != schema_->items->properties.end() && property->second->default_value) {
        value = &*property->second->default_value;
      }
    }
    if (value != nullptr) keys[name] = *value;
  }
  // Keys without a value and a default may be missing, but not all of them.
  if (keys.empty()) return std::nullopt;
  return PathElement::key(keys);
}

FieldSet fields_of(const Json& value, const Schema& schema) {
  FieldSet out;
  collect(value, TypeRef::root(schema), out);
  return out;
}

void remove_unowned(Json& value, const Schema& schema, const FieldSet& last, const FieldSet& owned) {
  Remover::run(value, TypeRef::root(schema), last, owned);
}

}  // namespace berth::apiserver
