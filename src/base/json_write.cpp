// JSON values as text, and comparing them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/json.h"

namespace berth {
namespace {

// As Go prints float64 in JSON: plain digits from 1e-6 to 1e21, else an exponent without leading zeros.
void append_double(std::string& out, double d) {
  if (!std::isfinite(d)) {  // JSON cannot represent it
    out += "null";
    return;
  }
  const double magnitude = std::fabs(d);
  const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, d,
                                          plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string_view text(digits, static_cast<std::size_t>(end - digits));
  const std::size_t e = text.find('e');
  if (e != std::string_view::npos && e + 2 < text.size() && text[e + 2] == '0') {
    out += text.substr(0, e + 2);
    out += text.substr(e + 3);
  } else {
    out += text;
  }
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      out += "\\u00";
      out += kHex[(c >> 4) & 15];
      out += kHex[c & 15];
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const auto special = std::find_if(text.begin(), text.end(), needs_escape);
    const auto length = static_cast<std::size_t>(special - text.begin());
    out.append(text.data(), length);
    if (length == text.size()) break;
    append_escaped(out, *special);
    text.remove_prefix(length + 1);
  }
  out += '"';
}

template <typename Integer>
void append_integer(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// Sorted keys: canonical text. Indentation 0: one line.
struct JsonWriter {
  bool sorted = false;
  int indentation = 0;
  std::string out;

  void line(int depth) {
    if (indentation == 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(depth * indentation), ' ');
  }

  void write(const Json& value, int depth) {
    switch (value.kind()) {
      case boost::json::kind::null:
        out += "null";
        break;
      case boost::json::kind::bool_:
        out += value.get_bool() ? "true" : "false";
        break;
      case boost::json::kind::int64:
        append_integer(out, value.get_int64());
        break;
      case boost::json::kind::uint64:
        append_integer(out, value.get_uint64());
        break;
      case boost::json::kind::double_:
        append_double(out, sorted ? value.get_double() + 0.0 : value.get_double());
        break;
      case boost::json::kind::string:
        append_string(out, view(value.get_string()));
        break;
      case boost::json::kind::array:
        write_array(value.get_array(), depth);
        break;
      case boost::json::kind::object:
        write_object(value.get_object(), depth);
        break;
    }
  }

  void write_array(const JsonArray& array, int depth) {
    out += '[';
    bool first = true;
    for (const Json& element : array) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      write(element, depth + 1);
    }
    if (!first) line(depth);
    out += ']';
  }

  void write_object(const JsonObject& object, int depth) {
    out += '{';
    bool first = true;
    const auto write_member = [&](const JsonObject::value_type& member) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      append_string(out, std::string_view(member.key().data(), member.key().size()));
      out += indentation > 0 ? ": " : ":";
      write(member.value(), depth + 1);
    };
    if (sorted) {
      std::vector<const JsonObject::value_type*> members;
      members.reserve(object.size());
      for (const auto& member : object) members.push_back(&member);
      std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
      for (const auto* member : members) write_member(*member);
    } else {
      for (const auto& member : object) write_member(member);
    }
    if (!first) line(depth);
    out += '}';
  }
};

bool equal_numbers(const Json& a, const Json& b) {
  // The parser uses uint64 only above the range of int64, but code may build a small uint64.
  if (a.is_double() && b.is_double()) return a.get_double() == b.get_double();
  if (a.is_double()) return equal_numbers(b, a);
  if (!b.is_double()) {
    if (a.is_int64() && b.is_int64()) return a.get_int64() == b.get_int64();
    if (a.is_uint64() && b.is_uint64()) return a.get_uint64() == b.get_uint64();
    const std::int64_t i = a.is_int64() ? a.get_int64() : b.get_int64();
    const std::uint64_t u = a.is_uint64() ? a.get_uint64() : b.get_uint64();
    return i >= 0 && static_cast<std::uint64_t>(i) == u;
  }
  const double d = b.get_double();
  if (a.is_int64())
    return d >= -0x1p63 && d < 0x1p63 && std::trunc(d) == d && static_cast<std::int64_t>(d) == a.get_int64();
  return d >= 0 && d < 0x1p64 && std::trunc(d) == d && static_cast<std::uint64_t>(d) == a.get_uint64();
}

}  // namespace

std::string to_string(const Json& value) {
  JsonWriter writer;
  writer.write(value, 0);
  return std::move(writer.out);
}

std::string to_pretty_string(const Json& value) {
  JsonWriter writer;
  writer.indentation = 2;
  writer.write(value, 0);
  return std::move(writer.out);
}

std::string canonical_json(const Json& value) {
  JsonWriter writer;
  writer.sorted = true;
  writer.write(value, 0);
  return std::move(writer.out);
}

bool json_equal(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case boost::json::kind::null:
      return true;
    case boost::json::kind::bool_:
      return a.get_bool() == b.get_bool();
    case boost::json::kind::string:
      return a.get_string() == b.get_string();
    case boost::json::kind::array:
      return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(),
                        json_equal);
    case boost::json::kind::object: {
      const JsonObject& x = a.get_object();
      const JsonObject& y = b.get_object();
      return x.size() == y.size() && std::all_of(x.begin(), x.end(), [&](const auto& member) {
               const Json* other = y.if_contains(member.key());
               return other && json_equal(member.value(), *other);
             });
    }
    default:
      return false;
  }
}

}  // namespace berth
