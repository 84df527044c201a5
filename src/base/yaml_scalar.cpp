#include "base/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/text.h"

namespace berth {
namespace {

// An integer with an optional base prefix, as Go's strconv.ParseInt(text, 0, 64) reads it.
std::optional<Json> integer(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    text.remove_prefix(is_digit(mark) ? 1 : mark == 'o' || mark == 'O' || base != 8 ? 2 : 0);
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!negative) {
    if (magnitude > INT64_MAX) return Json(magnitude);
    return Json(static_cast<std::int64_t>(magnitude));
  }
  if (magnitude > std::uint64_t{1} << 63) return std::nullopt;
  return Json(static_cast<std::int64_t>(0 - magnitude));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_decimal(std::string_view text) {
  std::size_t at = 0;
  const auto skip_digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - start;
  };
  const auto skip_sign = [&] {
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  };
  skip_sign();
  const std::size_t whole = skip_digits();
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = skip_digits();
  }
  if (whole + fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    skip_sign();
    if (skip_digits() == 0) return false;
  }
  return at == text.size();
}

Result<Json> decimal(std::string_view text) {
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return fail("number out of range");
  if (std::trunc(value) == value && value >= -0x1p63 && value < 0x1p63) return Json(static_cast<std::int64_t>(value));
  return Json(value);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

}  // namespace

Result<Json> resolve_yaml_scalar(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Json(nullptr);
  if (is_one_of(text, {"true", "True", "TRUE"})) return Json(true);
  if (is_one_of(text, {"false", "False", "FALSE"})) return Json(false);
  const char first = text[0];
  if (!is_digit(first) && first != '.' && first != '-' && first != '+') return Json(text);
  const std::string_view unsigned_text = first == '-' || first == '+' ? text.substr(1) : text;
  if (is_one_of(unsigned_text, {".inf", ".Inf", ".INF"}) || is_one_of(text, {".nan", ".NaN", ".NAN"}))
    return fail(std::string(text) + " is not a JSON number");
  std::string digits;
  for (const char c : text)
    if (c != '_') digits += c;
  if (auto number = integer(digits)) return std::move(*number);
  if (looks_like_decimal(digits)) return decimal(digits);
  return Json(text);
}

}  // namespace berth
