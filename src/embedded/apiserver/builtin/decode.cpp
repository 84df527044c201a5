#include "embedded/apiserver/builtin/decode.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"

namespace berth::apiserver {
namespace {

bool is_zero(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return true;
    case boost::json::kind::bool_:
      return !value.get_bool();
    case boost::json::kind::int64:
      return value.get_int64() == 0;
    case boost::json::kind::uint64:
      return value.get_uint64() == 0;
    case boost::json::kind::double_:
      return value.get_double() == 0;
    case boost::json::kind::string:
      return value.get_string().empty();
    case boost::json::kind::array:
      return value.get_array().empty();
    case boost::json::kind::object:
      return value.get_object().empty();
  }
  return false;
}

Result<void> decode_quantity(Json& value) {
  std::string text;
  if (value.is_string()) {
    text = std::string(view(value.get_string()));
  } else if (value.is_int64()) {
    text = fmt::format("{}", value.get_int64());
  } else if (value.is_uint64()) {
    text = fmt::format("{}", value.get_uint64());
  } else if (value.is_double()) {
    text = fmt::format("{}", value.get_double());
  } else if (value.is_null()) {
    text = "0";
  } else {
    return fail("quantities must be a string or a number");
  }
  auto quantity = Quantity::parse(text);
  if (!quantity) return tl::unexpected(quantity.error());
  value = quantity->to_string();
  return {};
}

constexpr std::size_t kWholeSeconds = std::string_view("2006-01-02T15:04:05").size();

// kube-apiserver requires exactly six fractional digits in a MicroTime.
bool has_microseconds(std::string_view time) {
  const std::string_view rest = time.substr(kWholeSeconds);
  return rest.starts_with('.') && rest.find_first_not_of("0123456789", 1) == 1 + 6;
}

Result<void> decode_time(Json& value, Codec codec) {
  if (!value.is_string()) return {};
  auto time = parse_time(view(value.get_string()));
  if (!time) {
    return fail(fmt::format("parsing time \"{}\" as \"2006-01-02T15:04:05Z07:00\": {}", view(value.get_string()),
                            time.error().message));
  }
  if (codec == Codec::kMicroTime && !has_microseconds(view(value.get_string()))) {
    return fail(
        fmt::format("parsing time \"{0}\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"{1}\" as \".000000\"",
                    view(value.get_string()), view(value.get_string()).substr(kWholeSeconds)));
  }
  value = codec == Codec::kTime ? format_time(to_seconds(*time)) : format_micro_time(*time);
  return {};
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Standard base64 with padding; line breaks are skipped, as in Go's decoder.
Result<void> decode_bytes(Json& value) {
  if (!value.is_string()) {
    if (value.is_null()) value = "";
    return {};
  }
  std::string_view text = view(value.get_string());
  std::string kept;
  std::size_t padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\r' || c == '\n') continue;
    bool pad = c == '=' && (padding > 0 || kept.size() % 4 >= 2);
    if ((!pad && kBase64.find(c) == std::string_view::npos) || (!pad && padding > 0) ||
        (padding > 0 && kept.size() % 4 == 0)) {
      return fail(fmt::format("illegal base64 data at input byte {}", i));
    }
    padding += pad ? 1 : 0;
    kept += c;
  }
  if (kept.size() % 4 != 0) return fail(fmt::format("illegal base64 data at input byte {}", text.size()));
  value = kept;
  return {};
}

Json zero_value(const Schema& s) {
  if (s.codec == Codec::kQuantity) return "0";
  if (s.codec == Codec::kTime || s.codec == Codec::kMicroTime) return nullptr;
  if (s.int_or_string) return 0;
  switch (s.type) {
    case SchemaType::kString:
      return "";
    case SchemaType::kInteger:
      return 0;
    case SchemaType::kBoolean:
      return false;
    case SchemaType::kObject:
      return s.properties.empty() ? Json(nullptr) : zero_object(s);
    default:
      return nullptr;
  }
}

Result<void> decode_object(JsonObject& object, const Schema& schema);

// A null inside a list or map means the zero value.
void replace_null(Json& value, const Schema& schema) {
  if (value.is_null() && !schema.preserve_unknown) value = zero_value(schema);
}

Result<void> decode_value(Json& value, const Schema& schema) {
  switch (schema.codec) {
    case Codec::kQuantity:
      return decode_quantity(value);
    case Codec::kTime:
    case Codec::kMicroTime:
      return decode_time(value, schema.codec);
    case Codec::kBytes:
      return decode_bytes(value);
    case Codec::kPlain:
      break;
  }
  if (value.is_array() && schema.items) {
    for (auto& item : value.get_array()) {
      replace_null(item, *schema.items);
      if (auto done = decode_value(item, *schema.items); !done) return done;
    }
  } else if (value.is_object() && schema.additional) {
    for (auto& member : value.get_object()) {
      replace_null(member.value(), *schema.additional);
      if (auto done = decode_value(member.value(), *schema.additional); !done) return done;
    }
  } else if (value.is_object() && !schema.properties.empty()) {
    return decode_object(value.get_object(), schema);
  }
  return {};
}

Result<void> decode_object(JsonObject& object, const Schema& schema) {
  for (const auto& [name, member] : schema.properties) {
    Json* value = object.if_contains(name);
    bool keep_null = member->preserve_unknown && member->zero == Zero::kKeep;
    if (value != nullptr && value->is_null() && !keep_null) {
      object.erase(name);
      value = nullptr;
    }
    bool default_again = value == nullptr || (member->zero == Zero::kOmit && is_zero(*value));
    if (default_again && member->default_value) {
      value = &(object[name] = *member->default_value);
    }
    if (value == nullptr) {
      if (member->zero == Zero::kAlways) object[name] = zero_value(*member);
      value = object.if_contains(name);
    }
    if (value == nullptr || value->is_null()) continue;
    if (auto done = decode_value(*value, *member); !done) return done;
    if (member->zero == Zero::kOmit && is_zero(*value)) object.erase(name);
  }
  return {};
}

}  // namespace

Result<void> to_stored_form(Json& object, const Schema& schema) {
  return object.is_object() ? decode_object(object.get_object(), schema) : Result<void>{};
}

Json zero_object(const Schema& schema) {
  JsonObject object;
  for (const auto& [name, member] : schema.properties) {
    if (member->zero == Zero::kAlways) object[name] = zero_value(*member);
  }
  return object;
}

}  // namespace berth::apiserver
