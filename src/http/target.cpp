#include "http/target.h"

#include <algorithm>
#include <optional>

namespace berth::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> unescape(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

}  // namespace

Query Query::parse(std::string_view text) {
  Query q;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t eq = pair.find('=');
    auto key = unescape(pair.substr(0, eq), true);
    auto value = eq == std::string_view::npos ? std::string() : unescape(pair.substr(eq + 1), true);
    if (key && value) q.items_.emplace_back(std::move(*key), std::move(*value));
  }
  return q;
}

bool Query::has(std::string_view key) const {
  return std::any_of(items_.begin(), items_.end(), [&](const auto& i) { return i.first == key; });
}

std::string_view Query::get(std::string_view key) const {
  const auto it = std::find_if(items_.begin(), items_.end(), [&](const auto& i) { return i.first == key; });
  return it == items_.end() ? std::string_view{} : it->second;
}

std::vector<std::string> Query::all(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [k, v] : items_) {
    if (k == key) values.push_back(v);
  }
  return values;
}

bool Query::flag(std::string_view key) const { return has(key) && get(key) != "0" && get(key) != "false"; }

Result<Target> parse_target(std::string_view text) {
  if (text.empty() || text.front() != '/') return fail("the request target must be an absolute path");
  text = text.substr(0, text.find('#'));
  const std::size_t question = text.find('?');
  Target target;
  if (question != std::string_view::npos) target.query = Query::parse(text.substr(question + 1));
  std::string_view path = text.substr(0, question);
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  for (std::string_view rest = path.substr(1); !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    auto part = unescape(rest.substr(0, end), false);
    if (!part) return fail("the request path holds a bad percent escape");
    if (*part == "." || *part == "..") return fail("the request path must not hold . or .. parts");
    target.path += '/' + *part;
    target.segments.push_back(std::move(*part));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (target.path.empty()) target.path = "/";
  return target;
}

}  // namespace berth::http
