#include "cel/read_types.h"

#include <utility>

namespace berth::cel {
namespace {

constexpr int kDeepest = 64;

SchemaType type_named(std::string_view name) {
  if (name == "object") return SchemaType::kObject;
  if (name == "array") return SchemaType::kArray;
  if (name == "string") return SchemaType::kString;
  if (name == "integer") return SchemaType::kInteger;
  if (name == "number") return SchemaType::kNumber;
  if (name == "boolean") return SchemaType::kBoolean;
  return SchemaType::kAny;
}

SchemaPtr read(const Json& openapi, int depth) {
  auto out = std::make_shared<Schema>();
  const bool open = bool_at(openapi, {"x-kubernetes-preserve-unknown-fields"});
  if (depth > kDeepest || open) return out;
  out->type = type_named(string_at(openapi, {"type"}));
  out->int_or_string = bool_at(openapi, {"x-kubernetes-int-or-string"});
  out->embedded_resource = bool_at(openapi, {"x-kubernetes-embedded-resource"});
  if (const Json* items = find(openapi, "items")) out->items = read(*items, depth + 1);
  for (const auto& [name, one] : object_at(openapi, {"properties"})) out->properties[name] = read(one, depth + 1);
  const Json* more = find(openapi, "additionalProperties");
  if (more != nullptr && more->is_object()) out->additional = read(*more, depth + 1);
  if (more != nullptr && more->is_bool() && more->get_bool()) out->additional = std::make_shared<Schema>();
  return out;
}

}  // namespace

SchemaPtr read_types(const Json& openapi) { return read(openapi, 0); }

}  // namespace berth::cel
