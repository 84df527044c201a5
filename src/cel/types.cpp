#include "cel/types.h"

#include <algorithm>
#include <array>

namespace berth::cel {
namespace {

// The size in bytes of the smallest JSON value of the schema.
std::uint64_t shortest(const Schema& schema) {
  if (schema.int_or_string) return 1;
  switch (schema.type) {
    case SchemaType::kArray:
    case SchemaType::kString:
      return 2;
    case SchemaType::kBoolean:
      return 4;
    case SchemaType::kObject:
      break;
    default:
      return 1;
  }
  std::uint64_t bytes = 2;
  for (const std::string& name : schema.required) {
    auto it = schema.properties.find(name);
    if (it == schema.properties.end() || it->second->default_value) continue;
    bytes += name.size() + 4 + shortest(*it->second);
  }
  return bytes;
}

std::uint64_t longest_text(const Schema& schema) {
  constexpr std::uint64_t kBytesPerCharacter = 4;  // limits count characters, costs count bytes
  if (schema.max_length) return std::min(*schema.max_length, kMaxRequest) * kBytesPerCharacter;
  std::uint64_t longest = 0;
  for (const Json& value : schema.enumeration) {
    if (value.is_string()) longest = std::max<std::uint64_t>(longest, value.get_string().size());
  }
  return longest > 0 ? longest : kMaxRequest - 2;
}

TypePtr sized(Kind kind, std::uint64_t size) {
  auto type = std::make_shared<Type>();
  type->kind = kind;
  type->max_size = size;
  return type;
}

TypePtr string_type(const Schema& schema) {
  if (schema.format == "date-time" || schema.format == "date") return basic_type(Kind::kTimestamp);
  if (schema.format == "duration") return basic_type(Kind::kDuration);
  return sized(schema.format == "byte" ? Kind::kBytes : Kind::kString, longest_text(schema));
}

}  // namespace

TypePtr basic_type(Kind kind) {
  const bool open = kind == Kind::kString || kind == Kind::kBytes || kind == Kind::kDyn;
  return sized(kind, open ? kUnknownSize : 1);
}

TypePtr list_type(TypePtr element, std::uint64_t max_size) {
  auto type = std::make_shared<Type>();
  type->kind = Kind::kList;
  type->element = std::move(element);
  type->max_size = max_size;
  return type;
}

TypePtr map_type(TypePtr key, TypePtr value, std::uint64_t max_size) {
  auto type = std::make_shared<Type>();
  type->kind = Kind::kMap;
  type->key = std::move(key);
  type->element = std::move(value);
  type->max_size = max_size;
  return type;
}

TypePtr optional_type(TypePtr element) {
  auto type = std::make_shared<Type>();
  type->kind = Kind::kOptional;
  type->element = std::move(element);
  return type;
}

std::uint64_t max_entries(const Schema& schema) {
  constexpr std::uint64_t kKey = 6;  // two quotes, a colon and a comma around the shortest key
  if (schema.type == SchemaType::kArray) {
    if (schema.max_items) return *schema.max_items;
    return (kMaxRequest - 2) / ((schema.items ? shortest(*schema.items) : 1) + 1);
  }
  if (schema.max_properties) return *schema.max_properties;
  return (kMaxRequest - 2) / ((schema.additional ? shortest(*schema.additional) : 1) + kKey);
}

TypePtr type_of_schema(const Schema& schema, bool is_root) {
  if (schema.int_or_string) return sized(Kind::kDyn, kMaxRequest - 2);
  switch (schema.type) {
    case SchemaType::kAny:
      return basic_type(Kind::kDyn);
    case SchemaType::kBoolean:
      return basic_type(Kind::kBool);
    case SchemaType::kInteger:
      return basic_type(Kind::kInt);
    case SchemaType::kNumber:
      return basic_type(Kind::kDouble);
    case SchemaType::kString:
      return string_type(schema);
    case SchemaType::kArray:
      return list_type(schema.items ? type_of_schema(*schema.items, false) : basic_type(Kind::kDyn),
                       max_entries(schema));
    case SchemaType::kObject:
      break;
  }
  if (schema.additional) {
    return map_type(basic_type(Kind::kString), type_of_schema(*schema.additional, false), max_entries(schema));
  }
  auto type = std::make_shared<Type>();
  type->kind = Kind::kObject;
  type->schema = &schema;
  type->is_resource = is_root || schema.embedded_resource;
  type->max_size = schema.properties.size();
  return type;
}

TypePtr field_type(const Type& object, std::string_view field) {
  if (object.is_resource && (field == "apiVersion" || field == "kind")) return basic_type(Kind::kString);
  static const Schema kResourceMeta = [] {
    auto text = std::make_shared<Schema>();
    text->type = SchemaType::kString;
    Schema meta;
    meta.type = SchemaType::kObject;
    meta.properties = {{"name", text}, {"generateName", text}};
    return meta;
  }();
  auto it = object.schema->properties.find(field);
  if (object.is_resource && field == "metadata" &&
      (it == object.schema->properties.end() || it->second->properties.empty())) {
    return type_of_schema(kResourceMeta, false);
  }
  return it == object.schema->properties.end() ? nullptr : type_of_schema(*it->second, false);
}

bool assignable(const Type& a, const Type& b) {
  if (a.kind == Kind::kDyn || b.kind == Kind::kDyn) return true;
  if (a.kind == Kind::kNull || b.kind == Kind::kNull) return true;  // nullability is not tracked here
  if (a.kind == Kind::kObject && b.kind == Kind::kObject) return a.schema == b.schema;
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::kMap && !assignable(*a.key, *b.key)) return false;
  return !a.element || !b.element || assignable(*a.element, *b.element);
}

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Kind::kDyn:
      return "dyn";
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kList:
      return type.element ? "list(" + to_string(*type.element) + ")" : "list";
    case Kind::kMap:
      return type.key && type.element ? "map(" + to_string(*type.key) + ", " + to_string(*type.element) + ")" : "map";
    case Kind::kObject:
      return "object";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kOptional:
      return "optional_type(" + to_string(*type.element) + ")";
    case Kind::kType:
      return "type";
  }
  return "";
}

std::string unescape_field(std::string_view name) {
  static constexpr std::array<std::string_view, 18> kWords = {
      "true", "false",    "null", "in",     "as",  "break", "const",   "continue",  "else",
      "for",  "function", "if",   "import", "let", "loop",  "package", "namespace", "return"};
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
    std::string_view word = name.substr(2, name.size() - 4);
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return std::string(word);
  }
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
  std::string out;
  while (!name.empty()) {
    const auto* escape = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                      [&](const auto& e) { return name.starts_with(e.first); });
    if (escape != std::end(kEscapes)) {
      out += escape->second;
      name.remove_prefix(escape->first.size());
    } else {
      out.push_back(name.front());
      name.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace berth::cel
