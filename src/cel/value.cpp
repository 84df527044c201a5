#include "cel/value.h"

#include <cmath>

namespace berth::cel {
namespace {

std::string decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    int digit = -1;
    if (c >= 'A' && c <= 'Z') digit = c - 'A';
    if (c >= 'a' && c <= 'z') digit = c - 'a' + 26;
    if (c >= '0' && c <= '9') digit = c - '0' + 52;
    if (c == '+') digit = 62;
    if (c == '/') digit = 63;
    if (digit < 0) break;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU));
  }
  return out;
}

Value scalar_text(std::string_view value, const Schema* schema) {
  if (schema != nullptr && schema->type == SchemaType::kString) {
    if (schema->format == "date-time" || schema->format == "date") {
      auto time = parse_time(schema->format == "date" ? std::string(value) + "T00:00:00Z" : std::string(value));
      if (time) return *time;
    } else if (schema->format == "duration") {
      if (auto duration = parse_duration(value)) return *duration;
    } else if (schema->format == "byte") {
      return Bytes{std::make_shared<const std::string>(decode_base64(value))};
    }
  }
  return Text{nullptr, value};
}

const Schema* child_schema(const Schema* schema, std::string_view key) {
  if (schema == nullptr) return nullptr;
  if (auto it = schema->properties.find(key); it != schema->properties.end()) return it->second.get();
  return schema->additional.get();
}

std::optional<double> number(const Value& value) {
  if (const auto* i = value.as<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* u = value.as<std::uint64_t>()) return static_cast<double>(*u);
  if (const auto* d = value.as<double>()) return *d;
  return std::nullopt;
}

int sign(double difference) { return difference < 0 ? -1 : difference > 0 ? 1 : 0; }

int compare_numbers(const Value& a, const Value& b) {
  const auto* ai = a.as<std::int64_t>();
  const auto* bi = b.as<std::int64_t>();
  const auto* au = a.as<std::uint64_t>();
  const auto* bu = b.as<std::uint64_t>();
  if (ai != nullptr && bi != nullptr) return *ai < *bi ? -1 : *ai > *bi ? 1 : 0;
  if (au != nullptr && bu != nullptr) return *au < *bu ? -1 : *au > *bu ? 1 : 0;
  if (ai != nullptr && bu != nullptr)
    return *ai < 0 || static_cast<std::uint64_t>(*ai) < *bu ? -1 : static_cast<std::uint64_t>(*ai) > *bu ? 1 : 0;
  if (au != nullptr && bi != nullptr) return -compare_numbers(b, a);
  const double x = *number(a), y = *number(b);
  if (std::isnan(x) || std::isnan(y)) return 2;
  return x == y ? 0 : sign(x - y);
}

template <typename T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

bool equal_lists(const Value& a, const Value& b) {
  const std::size_t n = length(a);
  if (n != length(b)) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (!equal(item(a, i), item(b, i))) return false;
  }
  return true;
}

bool equal_maps(const Value& a, const Value& b) {
  if (length(a) != length(b)) return false;
  for (const Value& key : keys(a)) {
    Value x, y;
    if (!member(a, key, x) || !member(b, key, y) || !equal(x, y)) return false;
  }
  return true;
}

}  // namespace

Value text(std::string owned) {
  auto shared = std::make_shared<const std::string>(std::move(owned));
  std::string_view view = *shared;
  return Text{std::move(shared), view};
}

Value failure(std::string message) { return Failure{std::make_shared<const std::string>(std::move(message))}; }

Value list_of(std::vector<Value> items) { return std::make_shared<const std::vector<Value>>(std::move(items)); }

Value from_json(const Json& json, const Schema* schema) {
  if (json.is_object() || json.is_array()) return Tree{&json, schema};
  if (json.is_string()) return scalar_text(view(json.get_string()), schema);
  if (json.is_bool()) return json.get_bool();
  if (json.is_null()) return Null{};
  const bool integer = schema != nullptr && schema->type == SchemaType::kInteger;
  const bool number = schema != nullptr && schema->type == SchemaType::kNumber;
  if (json.is_double()) {
    if (integer && json.get_double() == std::trunc(json.get_double()) && std::abs(json.get_double()) < 9.2e18) {
      return static_cast<std::int64_t>(json.get_double());
    }
    return json.get_double();
  }
  if (json.is_uint64()) return number ? Value(static_cast<double>(json.get_uint64())) : Value(json.get_uint64());
  return number ? Value(static_cast<double>(json.get_int64())) : Value(json.get_int64());
}

std::string_view type_name(const Value& value) {
  static constexpr std::string_view kNames[] = {"null_type",
                                                "bool",
                                                "int",
                                                "uint",
                                                "double",
                                                "string",
                                                "bytes",
                                                "google.protobuf.Duration",
                                                "google.protobuf.Timestamp",
                                                "map",
                                                "list",
                                                "map",
                                                "optional_type",
                                                "kubernetes.Quantity",
                                                "type",
                                                "error"};
  if (const auto* tree = value.as<Tree>()) return tree->json->is_array() ? "list" : "map";
  return kNames[value.index()];
}

bool is_list(const Value& value) {
  const auto* tree = value.as<Tree>();
  return tree != nullptr ? tree->json->is_array() : value.as<List>() != nullptr;
}

bool is_map(const Value& value) {
  const auto* tree = value.as<Tree>();
  return tree != nullptr ? tree->json->is_object() : value.as<Map>() != nullptr;
}

std::size_t length(const Value& value) {
  if (const auto* tree = value.as<Tree>()) {
    return tree->json->is_array() ? tree->json->get_array().size() : tree->json->get_object().size();
  }
  if (const auto* list = value.as<List>()) return (*list)->size();
  if (const auto* map = value.as<Map>()) return map->entries->size();
  return 0;
}

Value item(const Value& list, std::size_t index) {
  if (const auto* tree = list.as<Tree>()) {
    return from_json(tree->json->get_array()[index], tree->schema != nullptr ? tree->schema->items.get() : nullptr);
  }
  return (**list.as<List>())[index];
}

std::vector<Value> keys(const Value& map) {
  std::vector<Value> out;
  if (const auto* tree = map.as<Tree>()) {
    for (const auto& entry : tree->json->get_object()) out.emplace_back(Text{nullptr, std::string_view(entry.key())});
  } else if (const auto* entries = map.as<Map>()) {
    for (const auto& entry : *entries->entries) out.push_back(entry.first);
  }
  return out;
}

bool member(const Value& map, std::string_view key, Value& out) {
  if (const auto* tree = map.as<Tree>()) {
    const Json* value = tree->json->is_object() ? tree->json->get_object().if_contains(key) : nullptr;
    if (value == nullptr) return false;
    out = from_json(*value, child_schema(tree->schema, key));
    return true;
  }
  return member(map, Value(Text{nullptr, key}), out);
}

bool member(const Value& map, const Value& key, Value& out) {
  if (map.as<Tree>() != nullptr) {
    const auto* name = key.as<Text>();
    return name != nullptr && member(map, name->view, out);
  }
  const auto* entries = map.as<Map>();
  if (entries == nullptr) return false;
  for (const auto& entry : *entries->entries) {
    if (!equal(entry.first, key)) continue;
    out = entry.second;
    return true;
  }
  return false;
}

bool equal(const Value& a, const Value& b) {
  if (number(a) && number(b)) return compare_numbers(a, b) == 0;
  if (is_list(a) && is_list(b)) return equal_lists(a, b);
  if (is_map(a) && is_map(b)) return equal_maps(a, b);
  if (a.index() != b.index()) return false;
  if (a.as<Null>() != nullptr) return true;
  if (const auto* x = a.as<TypeName>()) return x->name == b.as<TypeName>()->name;
  if (const auto* x = a.as<Optional>()) {
    const auto* y = b.as<Optional>();
    return x->value && y->value ? equal(*x->value, *y->value) : !x->value && !y->value;
  }
  return compare(a, b) == 0;
}

int compare(const Value& a, const Value& b) {
  if (number(a) && number(b)) return compare_numbers(a, b);
  if (a.index() != b.index()) return 2;
  if (const auto* x = a.as<bool>()) return order(*x, *b.as<bool>());
  if (const auto* x = a.as<Text>()) return order(x->view, b.as<Text>()->view);
  if (const auto* x = a.as<Bytes>()) return order(*x->data, *b.as<Bytes>()->data);
  if (const auto* x = a.as<Duration>()) return order(*x, *b.as<Duration>());
  if (const auto* x = a.as<Time>()) return order(*x, *b.as<Time>());
  if (const auto* x = a.as<Quantity>()) return order(*x, *b.as<Quantity>());
  return 2;
}

}  // namespace berth::cel
