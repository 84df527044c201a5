#include "cli/queues/jsonpath_text.h"

#include <limits>
#include <optional>
#include <utility>

namespace berth::cli::queues {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::string_view kRange = "range ";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The end of the expression that begins at `at`, its closing brace; braces in quotes do not count.
std::size_t closing_brace(std::string_view text, std::size_t at) {
  char quote = '\0';
  for (; at < text.size(); ++at) {
    if (quote != '\0') {
      if (text[at] == '\\') {
        ++at;
      } else if (text[at] == quote) {
        quote = '\0';
      }
    } else if (text[at] == '"' || text[at] == '\'') {
      quote = text[at];
    } else if (text[at] == '}') {
      return at;
    }
  }
  return std::string_view::npos;
}

// The text between quotes, with \n, \t, \" and \\.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || (text.front() != '"' && text.front() != '\'') || text.back() != text.front())
    return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\' || i + 2 >= text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == 'r' ? '\r' : text[i];
  }
  return out;
}

std::string shown(const Json& value) {
  return value.is_string() ? std::string(view(value.get_string())) : to_string(value);
}

}  // namespace

Result<std::vector<JsonPathText::Part>> JsonPathText::parts_of(std::string_view text, std::size_t& at, int depth) {
  std::vector<Part> parts;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    if (open != at) {
      parts.emplace_back().text = text.substr(at, open == std::string_view::npos ? open : open - at);
      at = open;
      if (open == std::string_view::npos) break;
    }
    const std::size_t close = closing_brace(text, open + 1);
    if (close == std::string_view::npos) return fail("expected } after \"" + std::string(text.substr(open)) + "\"");
    const std::string_view inside = trimmed(text.substr(open + 1, close - open - 1));
    at = close + 1;
    if (inside == "end") {
      if (depth == 0) return fail("{end} without {range}");
      return parts;
    }
    Part part;
    if (auto quoted = unquoted(inside)) {
      part.text = std::move(*quoted);
    } else {
      part.is_range = inside.starts_with(kRange);
      std::string_view path = part.is_range ? trimmed(inside.substr(kRange.size())) : inside;
      if (path.starts_with('@')) path.remove_prefix(1);
      auto compiled = JsonPath::compile(path.empty() ? std::string_view(".") : path);
      if (!compiled) return tl::unexpected(compiled.error());
      part.is_path = true;
      part.path = std::move(*compiled);
    }
    if (part.is_range) {
      if (depth == kMaxDepth) return fail("more than " + std::to_string(kMaxDepth) + " ranges in each other");
      auto repeated = parts_of(text, at, depth + 1);
      if (!repeated) return tl::unexpected(repeated.error());
      part.repeated = std::move(*repeated);
    }
    parts.push_back(std::move(part));
  }
  if (depth > 0) return fail("{range} without {end}");
  return parts;
}

Result<JsonPathText> JsonPathText::compile(std::string_view text) {
  std::size_t at = 0;
  auto parts = parts_of(text, at, 0);
  if (!parts) return tl::unexpected(parts.error());
  JsonPathText out;
  out.parts_ = std::move(*parts);
  return out;
}

void JsonPathText::print(const std::vector<Part>& parts, const Json& value, std::string& out) {
  for (const Part& part : parts) {
    if (!part.is_path) {
      out += part.text;
      continue;
    }
    bool first = true;
    for (const Json* found : part.path.find_all(value, std::numeric_limits<std::size_t>::max())) {
      if (part.is_range) {
        print(part.repeated, *found, out);
        continue;
      }
      if (!std::exchange(first, false)) out += ' ';
      out += shown(*found);
    }
  }
}

std::string JsonPathText::print(const Json& value) const {
  std::string out;
  print(parts_, value, out);
  return out;
}

}  // namespace berth::cli::queues
