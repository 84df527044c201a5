// Encodes OpenAPI 2.0 as protobuf. Written by hand because there are few messages; kubectl reads only this form of
// the document. https://github.com/google/gnostic/blob/main/openapiv2/OpenAPIv2.proto
#include <bit>
#include <cstdint>

#include "embedded/apiserver/openapi/openapi.h"

namespace berth::apiserver::openapi {
namespace {

// Writes one message. Omits empty strings, zeros and false, as proto3 does.
class Message {
 public:
  void text(int field, std::string_view value) {
    if (!value.empty()) bytes(field, value);
  }
  void flag(int field, bool value) {
    if (value) integer(field, 1);
  }
  void integer(int field, std::int64_t value) {
    if (value == 0) return;
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(static_cast<std::uint64_t>(value));
  }
  void number(int field, double value) {
    if (value == 0) return;
    varint((static_cast<std::uint64_t>(field) << 3U) | 1U);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) out_.push_back(static_cast<char>((bits >> shift) & 0xFFU));
  }
  void message(int field, const Message& value) { bytes(field, value.out_); }
  std::string take() { return std::move(out_); }

 private:
  void bytes(int field, std::string_view value) {
    varint((static_cast<std::uint64_t>(field) << 3U) | 2U);
    varint(value.size());
    out_ += value;
  }
  void varint(std::uint64_t value) {
    while (value >= 0x80U) {
      out_.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
      value >>= 7U;
    }
    out_.push_back(static_cast<char>(value));
  }

  std::string out_;
};

double as_number(const Json& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return value.is_double() ? value.get_double() : 0;
}

void put_texts(Message& out, int field, const Json& owner, std::string_view key) {
  for (const Json& item : array_at(owner, {key})) {
    if (item.is_string()) out.text(field, view(item.get_string()));
  }
}

// The message Any: the value as YAML, of which JSON is a subset.
Message any(const Json& value) {
  Message out;
  out.text(2, to_string(value));
  return out;
}

Message named(std::string_view name, const Message& value) {
  Message out;
  out.text(1, name);
  out.message(2, value);
  return out;
}

void put_extensions(Message& out, int field, const Json& owner) {
  for (const auto& [key, value] : owner.get_object()) {
    if (std::string_view(key).starts_with("x-")) out.message(field, named(key, any(value)));
  }
}

Message schema(const Json& in);

Message items(const Json& in) {  // ItemsItem, SchemaItem and AdditionalPropertiesItem: field 1 is the schema
  Message out;
  if (in.is_bool()) {
    out.flag(2, in.get_bool());
  } else {
    out.message(1, schema(in));
  }
  return out;
}

Message named_schemas(const Json& in) {  // Properties, Definitions
  Message out;
  for (const auto& [name, value] : in.get_object()) out.message(1, named(name, schema(value)));
  return out;
}

void put_limits(Message& out, const Json& in) {
  static constexpr std::pair<std::string_view, int> kNumbers[] = {{"multipleOf", 6}, {"maximum", 7}, {"minimum", 9}};
  static constexpr std::pair<std::string_view, int> kFlags[] = {
      {"exclusiveMaximum", 8}, {"exclusiveMinimum", 10}, {"uniqueItems", 16}};
  static constexpr std::pair<std::string_view, int> kCounts[] = {{"maxLength", 11},     {"minLength", 12},
                                                                 {"maxItems", 14},      {"minItems", 15},
                                                                 {"maxProperties", 17}, {"minProperties", 18}};
  for (auto [key, field] : kNumbers) {
    if (const Json* value = find(in, key)) out.number(field, as_number(*value));
  }
  for (auto [key, field] : kFlags) out.flag(field, bool_at(in, {key}));
  for (auto [key, field] : kCounts) out.integer(field, int_at(in, {key}));
}

Message schema(const Json& in) {
  Message out;
  if (!in.is_object()) return out;
  out.text(1, string_at(in, {"$ref"}));
  out.text(2, string_at(in, {"format"}));
  out.text(3, string_at(in, {"title"}));
  out.text(4, string_at(in, {"description"}));
  if (const Json* value = find(in, "default")) out.message(5, any(*value));
  put_limits(out, in);
  out.text(13, string_at(in, {"pattern"}));
  put_texts(out, 19, in, "required");
  for (const Json& value : array_at(in, {"enum"})) out.message(20, any(value));
  if (const Json* value = find(in, "additionalProperties")) out.message(21, items(*value));
  if (std::string_view type = string_at(in, {"type"}); !type.empty()) {
    Message types;
    types.text(1, type);
    out.message(22, types);
  }
  if (const Json* value = find(in, "items")) out.message(23, items(*value));
  for (const Json& value : array_at(in, {"allOf"})) out.message(24, schema(value));
  if (const Json* value = find(in, "properties"); value != nullptr && value->is_object())
    out.message(25, named_schemas(*value));
  put_extensions(out, 31, in);
  return out;
}

Message body_parameter(const Json& in) {
  Message body;
  body.text(1, string_at(in, {"description"}));
  body.text(2, string_at(in, {"name"}));
  body.text(3, string_at(in, {"in"}));
  body.flag(4, bool_at(in, {"required"}));
  if (const Json* value = find(in, "schema")) body.message(5, schema(*value));
  return body;
}

// Query and path parameters have the same fields with different numbers.
Message other_parameter(const Json& in) {
  const bool query = string_at(in, {"in"}) == "query";
  Message parameter;
  parameter.flag(1, bool_at(in, {"required"}));
  parameter.text(2, string_at(in, {"in"}));
  parameter.text(3, string_at(in, {"description"}));
  parameter.text(4, string_at(in, {"name"}));
  parameter.text(query ? 6 : 5, string_at(in, {"type"}));
  parameter.flag(query ? 20 : 19, bool_at(in, {"uniqueItems"}));
  Message out;
  out.message(query ? 3 : 4, parameter);
  return out;
}

void put_parameters(Message& out, int field, const Json& owner) {
  for (const Json& in : array_at(owner, {"parameters"})) {
    Message parameter, item;
    if (string_at(in, {"in"}) == "body") {
      parameter.message(1, body_parameter(in));
    } else {
      parameter.message(2, other_parameter(in));
    }
    item.message(1, parameter);
    out.message(field, item);
  }
}

Message responses(const Json& in) {
  Message out;
  for (const auto& [code, value] : in.get_object()) {
    Message response, either;
    response.text(1, string_at(value, {"description"}));
    if (const Json* content = find(value, "schema")) response.message(2, items(*content));
    either.message(1, response);
    out.message(1, named(code, either));
  }
  return out;
}

Message operation(const Json& in) {
  Message out;
  put_texts(out, 1, in, "tags");
  out.text(3, string_at(in, {"description"}));
  out.text(5, string_at(in, {"operationId"}));
  put_texts(out, 6, in, "produces");
  put_texts(out, 7, in, "consumes");
  put_parameters(out, 8, in);
  if (const Json* value = find(in, "responses")) out.message(9, responses(*value));
  put_extensions(out, 13, in);
  return out;
}

Message path_item(const Json& in) {
  static constexpr std::pair<std::string_view, int> kMethods[] = {
      {"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  Message out;
  for (auto [method, field] : kMethods) {
    if (const Json* value = find(in, method)) out.message(field, operation(*value));
  }
  put_parameters(out, 9, in);
  return out;
}

}  // namespace

std::string v2_protobuf(const Json& document) {
  Message out, info, paths;
  out.text(1, string_at(document, {"swagger"}));
  info.text(1, string_at(document, {"info", "title"}));
  info.text(2, string_at(document, {"info", "version"}));
  out.message(2, info);
  for (const auto& [path, item] : object_at(document, {"paths"})) paths.message(2, named(path, path_item(item)));
  out.message(8, paths);
  if (const Json* definitions = find(document, "definitions")) out.message(9, named_schemas(*definitions));
  return out.take();
}

}  // namespace berth::apiserver::openapi
