#include "embedded/apiserver/http/protobuf.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/base64.h"
#include "base/time.h"
#include "embedded/apiserver/http/protobuf_messages.h"

namespace berth::apiserver::http {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
// Nesting depth of messages; except for JSONSchemaProps, kinds have fewer than twenty levels.
constexpr int kMaxDepth = 64;

enum class Shape { kOne, kList, kMap };

struct Field {
  std::string name;  // ".": the members belong to the enclosing message
  std::string type;
  Shape shape = Shape::kOne;
};
using Message = std::map<std::uint32_t, Field>;
using Messages = std::map<std::string, Message, std::less<>>;

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return text = {}, text;
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

void read_notation(std::string_view text, Messages& messages) {
  for (;;) {
    std::string_view name = next_word(text);
    if (name.empty()) return;
    const bool empty = name.ends_with(";");
    name = name.substr(0, name.find(':'));
    Message& message = messages[std::string(name)];
    for (bool more = !empty; more;) {
      const std::string number(next_word(text));
      if (number == ";") break;
      Field field;
      field.name = next_word(text);
      std::string_view type = next_word(text);
      BERTH_INVARIANT(!type.empty());
      more = type.back() == ',';
      type.remove_suffix(1);
      if (type.starts_with("[]")) field.shape = Shape::kList;
      if (type.starts_with("{}")) field.shape = Shape::kMap;
      field.type = field.shape == Shape::kOne ? type : type.substr(2);
      message.emplace(static_cast<std::uint32_t>(std::stoul(number)), std::move(field));
    }
  }
}

const Messages& messages() {
  static const Messages all = [] {
    Messages m;
    read_notation(protobuf_notation(0), m);
    read_notation(protobuf_notation(1), m);
    read_notation(protobuf_application_notation(), m);
    return m;
  }();
  return all;
}

// One field in wire format.
struct Wire {
  std::uint32_t number = 0;
  int type = 0;             // 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
  std::uint64_t value = 0;  // of types 0, 1 and 5
  std::string_view bytes;   // of type 2
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }

  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return fail("a number is cut off");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail("a number is too long");
  }

  Result<Wire> next() {
    auto key = varint();
    if (!key) return fail(key.error().message);
    Wire wire;
    wire.number = static_cast<std::uint32_t>(*key >> 3);
    wire.type = static_cast<int>(*key & 7);
    if (wire.type == 0 || wire.type == 2) {
      auto value = varint();
      if (!value) return fail(value.error().message);
      wire.value = *value;
    }
    const std::size_t size = wire.type == 1 ? 8 : wire.type == 5 ? 4 : wire.type == 2 ? wire.value : 0;
    if (wire.type > 5 || wire.type == 3 || wire.type == 4) return fail("a field has an unknown wire type");
    if (size > rest_.size()) return fail("a field is cut off");
    wire.bytes = rest_.substr(0, size);
    if (wire.type != 2 && size > 0) std::memcpy(&wire.value, wire.bytes.data(), size);
    rest_.remove_prefix(size);
    return wire;
  }

 private:
  std::string_view rest_;
};

// The numbers and strings of fields 1, 2 and 3 of a small message.
struct Small {
  std::int64_t numbers[4] = {};
  std::string_view texts[4];
  std::vector<std::string_view> first;  // all strings of field 1
};

Result<Small> read_small(std::string_view bytes) {
  Small small;
  for (Reader reader(bytes); !reader.at_end();) {
    auto wire = reader.next();
    if (!wire) return fail(wire.error().message);
    if (wire->number == 0 || wire->number > 3) continue;
    small.numbers[wire->number] = static_cast<std::int64_t>(wire->value);
    small.texts[wire->number] = wire->bytes;
    if (wire->number == 1 && wire->type == 2) small.first.push_back(wire->bytes);
  }
  return small;
}

Json time_of(const Small& s, bool micro) {
  // Times that a client did not set are empty. Times outside the calendar's range are dropped, too.
  constexpr std::int64_t kMaxSeconds = 253'402'300'799;  // the end of the year 9999
  const std::int64_t seconds = s.numbers[1], nanos = s.numbers[2];
  if ((seconds == 0 && nanos == 0) || seconds < 0 || seconds > kMaxSeconds) return nullptr;
  const Time at = Time(std::chrono::seconds(seconds)) + std::chrono::microseconds(nanos / 1000);
  return Json(micro ? format_micro_time(at) : format_time(at));
}

// Messages whose JSON form is not an object. nullptr: the value is not set.
Result<Json> special_of(std::string_view type, std::string_view bytes) {
  auto small = read_small(bytes);
  if (!small) return fail(small.error().message);
  if (type == "time" || type == "microTime") return time_of(*small, type == "microTime");
  if (type == "quantity") return small->texts[1].empty() ? Json("0") : Json(small->texts[1]);
  if (type == "intOrString")
    return small->numbers[1] == 1 ? Json(small->texts[3]) : Json(static_cast<std::int32_t>(small->numbers[2]));
  if (type == "json") return small->texts[1].empty() ? Result<Json>(Json(nullptr)) : parse_json(small->texts[1]);
  JsonArray array;  // texts
  for (const std::string_view t : small->first) array.emplace_back(t);
  return Json(std::move(array));
}

bool is_special(std::string_view type) {
  return type == "time" || type == "microTime" || type == "quantity" || type == "intOrString" || type == "json" ||
         type == "texts";
}

Result<void> read_message(const Message& message, std::string_view bytes, int depth, JsonObject& into);

// One value of a field; null when it is not set.
Result<Json> value_of(const Field& field, const Wire& wire, int depth) {
  const std::string& type = field.type;
  if (type == "bool") return Json(wire.value != 0);
  if (type == "int") return Json(static_cast<std::int64_t>(wire.value));
  if (type == "double") {
    double number = 0;
    std::memcpy(&number, &wire.value, sizeof number);
    return Json(number);
  }
  if (wire.type != 2) return fail("the field " + field.name + " has the wrong wire type");
  if (type == "string") return Json(wire.bytes);
  if (type == "bytes") return Json(base64_encode(wire.bytes));
  if (is_special(type)) return special_of(type, wire.bytes);
  const auto it = messages().find(type);
  BERTH_INVARIANT(it != messages().end());
  JsonObject object;
  if (auto read = read_message(it->second, wire.bytes, depth + 1, object); !read) return fail(read.error().message);
  return Json(std::move(object));
}

Result<void> read_entry(const Field& field, std::string_view bytes, int depth, JsonObject& map) {
  std::string_view key;
  Json value = field.type == "string" || field.type == "bytes" ? Json("") : Json(nullptr);
  for (Reader reader(bytes); !reader.at_end();) {
    auto wire = reader.next();
    if (!wire) return fail(wire.error().message);
    if (wire->number == 1) key = wire->bytes;
    if (wire->number != 2) continue;
    auto read = value_of(field, *wire, depth);
    if (!read) return fail(read.error().message);
    value = std::move(*read);
  }
  map[key] = std::move(value);
  return {};
}

JsonObject& object_in(JsonObject& parent, std::string_view key) {
  Json& member = parent[key];
  if (!member.is_object()) member = JsonObject();
  return member.get_object();
}

Result<void> read_message(const Message& message, std::string_view bytes, int depth, JsonObject& into) {
  if (depth > kMaxDepth) return fail("messages are nested too deeply");
  for (Reader reader(bytes); !reader.at_end();) {
    auto wire = reader.next();
    if (!wire) return fail(wire.error().message);
    const auto known = message.find(wire->number);
    if (known == message.end()) continue;  // ignore fields of newer versions, as Go does
    const Field& field = known->second;
    if (field.name == ".") {
      const auto inlined = messages().find(field.type);
      BERTH_INVARIANT(inlined != messages().end());
      if (auto read = read_message(inlined->second, wire->bytes, depth + 1, into); !read) return read;
      continue;
    }
    if (field.shape == Shape::kMap) {
      if (auto read = read_entry(field, wire->bytes, depth, object_in(into, field.name)); !read) return read;
      continue;
    }
    auto value = value_of(field, *wire, depth);
    if (!value) return fail(value.error().message);
    if (field.shape == Shape::kList) {
      Json& list = into[field.name];
      if (!list.is_array()) list = JsonArray();
      list.get_array().push_back(std::move(*value));
      continue;
    }
    const bool unset = value->is_null() || (value->is_string() && value->get_string().empty());
    if (!unset) into[field.name] = std::move(*value);
  }
  return {};
}

// Drops zero-valued members of metadata that are stored only when they are set.
void drop_zero_metadata(JsonObject& object) {
  Json* metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  if (const Json* generation = metadata->get_object().if_contains("generation");
      generation != nullptr && json_equal(*generation, 0)) {
    metadata->get_object().erase("generation");
  }
}

}  // namespace

Result<Json> decode_protobuf(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return fail("protobuf error: the prefix k8s\\x00 is missing");
  auto envelope = read_small(bytes.substr(kMagic.size()));
  if (!envelope) return fail("protobuf error: " + envelope.error().message);
  auto type = read_small(envelope->texts[1]);
  if (!type) return fail("protobuf error: " + type.error().message);
  const std::string_view api_version = type->texts[1], kind = type->texts[2];
  const std::string name = (api_version.starts_with("events.k8s.io/") ? "Events" : "") + std::string(kind);
  const auto message = messages().find(name);
  if (message == messages().end())
    return fail("protobuf error: no message of kind \"" + std::string(kind) + "\" is known");
  JsonObject object;
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  if (auto read = read_message(message->second, envelope->texts[2], 0, object); !read) {
    return fail("protobuf error: " + read.error().message);
  }
  drop_zero_metadata(object);
  return Json(std::move(object));
}

}  // namespace berth::apiserver::http
