// JSON values as block-style YAML.
#include <algorithm>

#include "base/yaml.h"
#include "base/yaml_scalar.h"

namespace berth {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-' || c == '+';
}

// Whether YAML 1.1 parsers read `text` as a boolean, null or special number.
bool is_reserved(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const std::string_view word : {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", ".inf", ".nan"})
    if (lower == word) return true;
  return false;
}

// Whether `text` reads back as itself without quotes: ordinary words, single spaces and colons within them.
bool is_plain(std::string_view text) {
  if (text.empty() || is_reserved(text)) return false;
  const char first = text.front();
  const bool word_start = is_word_char(first) && first != '-' && first != '+' && first != '.';
  if (!word_start || text.back() == ' ' || text.back() == ':') return false;
  if (first >= '0' && first <= '9') {
    // A leading digit may start a date, a base-60 number or the like in YAML 1.1: plain only when `text` has a letter
    // from g to z.
    const bool has_letter =
        std::any_of(text.begin(), text.end(), [](char c) { return (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z'); });
    if (!has_letter || text.find_first_of("_:+") != std::string_view::npos) return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inner =
        (c == ' ' && text[i - 1] != ':') || (c == ':' && i + 1 < text.size() && text[i + 1] != ' ') || c == ',';
    if (!is_word_char(c) && !inner) return false;
  }
  const Result<Json> meaning = resolve_yaml_scalar(text);
  return meaning && meaning->is_string();
}

// Whether `text` can be a literal block (|): printable ASCII with a line break, and the first line is not empty and
// does not start with a space.
bool is_block(std::string_view text) {
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos || newline == 0 || text.front() == ' ') return false;
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || static_cast<unsigned char>(c) >= 0x7f;
  });
}

struct YamlWriter {
  std::string out;

  void indent(int depth) { out.append(static_cast<std::size_t>(depth) * 2, ' '); }

  void block(std::string_view text, int depth) {
    const bool ends = text.back() == '\n';
    out += !ends ? "|-" : text.size() > 1 && text[text.size() - 2] == '\n' ? "|+" : "|";
    std::string_view rest = ends ? text.substr(0, text.size() - 1) : text;
    while (true) {
      const std::size_t newline = rest.find('\n');
      const std::string_view line = rest.substr(0, newline);
      out += '\n';
      if (!line.empty()) indent(depth);
      out += line;
      if (newline == std::string_view::npos) break;
      rest.remove_prefix(newline + 1);
    }
  }

  void scalar(const Json& value, int depth) {
    if (!value.is_string()) {
      out += to_string(value);
      return;
    }
    const std::string_view text = view(value.get_string());
    if (is_plain(text)) {
      out += text;
    } else if (is_block(text)) {
      block(text, depth);
    } else {
      out += to_string(value);  // a JSON string is a double-quoted YAML scalar
    }
  }

  static bool is_nested(const Json& value) {
    return (value.is_object() && !value.get_object().empty()) || (value.is_array() && !value.get_array().empty());
  }

  // Writes the lines of an object or array at `depth`. With `inline_first` the first line is indented already.
  void lines(const Json& value, int depth, bool inline_first) {
    bool first = true;
    const auto start = [&] {
      if (!(first && inline_first)) indent(depth);
      first = false;
    };
    if (const JsonArray* array = value.if_array()) {
      for (const Json& element : *array) {
        start();
        out += "- ";
        if (is_nested(element)) {
          lines(element, depth + 1, true);
        } else {
          leaf(element, depth + 1);
        }
      }
      return;
    }
    for (const auto& member : value.get_object()) {
      start();
      const std::string_view key(member.key().data(), member.key().size());
      out += is_plain(key) ? std::string(key) : to_string(Json(key));
      out += ':';
      if (is_nested(member.value())) {
        out += '\n';
        // Arrays have the indentation of their key, as kubectl prints them.
        lines(member.value(), member.value().is_array() ? depth : depth + 1, false);
      } else {
        out += ' ';
        leaf(member.value(), depth + 1);
      }
    }
  }

  void leaf(const Json& value, int depth) {
    scalar(value, depth);
    out += '\n';
  }
};

}  // namespace

std::string to_yaml(const Json& value) {
  YamlWriter writer;
  if (YamlWriter::is_nested(value)) {
    writer.lines(value, 0, false);
  } else {
    writer.leaf(value, 1);
  }
  return std::move(writer.out);
}

}  // namespace berth
