// The string formats that kube-apiserver checks. Other formats accept every string.
#include <arpa/inet.h>
#include <re2/re2.h>

#include <string>

#include "base/time.h"
#include "embedded/apiserver/schema/internal.h"

namespace berth::apiserver {
namespace {

bool matches(std::string_view text, const re2::RE2& expression) {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), expression);
}

bool is_base64(std::string_view text) {
  static const re2::RE2 kBase64("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})?");
  return matches(text, kBase64);
}

bool is_date(std::string_view text) {
  static const re2::RE2 kDate("\\d{4}-\\d{2}-\\d{2}");
  return matches(text, kDate) && parse_time(std::string(text) + "T00:00:00Z").has_value();
}

bool is_uuid(std::string_view text, std::string_view format) {
  static const re2::RE2 kAny("(?i)[0-9A-F]{8}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{12}");
  static const re2::RE2 kThree("(?i)[0-9A-F]{8}-?[0-9A-F]{4}-?3[0-9A-F]{3}-?[0-9A-F]{4}-?[0-9A-F]{12}");
  static const re2::RE2 kFour("(?i)[0-9A-F]{8}-?[0-9A-F]{4}-?4[0-9A-F]{3}-?[89AB][0-9A-F]{3}-?[0-9A-F]{12}");
  static const re2::RE2 kFive("(?i)[0-9A-F]{8}-?[0-9A-F]{4}-?5[0-9A-F]{3}-?[89AB][0-9A-F]{3}-?[0-9A-F]{12}");
  if (format == "uuid3") return matches(text, kThree);
  if (format == "uuid4") return matches(text, kFour);
  if (format == "uuid5") return matches(text, kFive);
  return matches(text, kAny);
}

bool is_address(const std::string& text, int family) {
  unsigned char buffer[16];
  return inet_pton(family, text.c_str(), buffer) == 1;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == text.size() || text.size() - slash > 4) return false;
  int bits = 0;
  for (char c : text.substr(slash + 1)) {
    if (c < '0' || c > '9') return false;
    bits = bits * 10 + (c - '0');
  }
  const std::string address(text.substr(0, slash));
  return (is_address(address, AF_INET) && bits <= 32) || (is_address(address, AF_INET6) && bits <= 128);
}

bool is_hostname(std::string_view text) {
  static const re2::RE2 kHost(
      "([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{"
      "S}\\p{L}]{0,61}"
      "[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})");
  return text.size() <= 255 && matches(text, kHost);
}

}  // namespace

bool has_format(std::string_view value, std::string_view format) {
  static const re2::RE2 kUri("[A-Za-z][A-Za-z0-9+.\\-]*:[^\\s]*");
  static const re2::RE2 kEmail("[^@\\s<>]+@[^@\\s<>]+");
  static const re2::RE2 kMac(
      "(?i)(?:[0-9a-f]{2}[:-]){5}(?:[0-9a-f]{2}(?:[:-][0-9a-f]{2}){0,2})|(?:[0-9a-f]{4}\\.){2}[0-9a-f]{4}");
  if (format == "date-time" || format == "datetime") return parse_time(value).has_value();
  if (format == "date") return is_date(value);
  if (format == "byte") return is_base64(value);
  if (format == "duration") return parse_duration(value).has_value();
  if (format == "uuid" || format == "uuid3" || format == "uuid4" || format == "uuid5") return is_uuid(value, format);
  if (format == "ipv4") return is_address(std::string(value), AF_INET);
  if (format == "ipv6") return is_address(std::string(value), AF_INET6);
  if (format == "cidr") return is_cidr(value);
  if (format == "hostname") return is_hostname(value);
  if (format == "uri") return matches(value, kUri);
  if (format == "email") return matches(value, kEmail);
  if (format == "mac") return matches(value, kMac);
  return true;
}

}  // namespace berth::apiserver
