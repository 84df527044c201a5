#include "embedded/simulate/html/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace berth::simulate::html {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The length of the UTF-8 character that begins here; 0: there is none.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  std::uint32_t code = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3fu);
  }
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  return too_long || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

void append_escaped(std::string& out, std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  switch (first) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    default:
      // C0 and C1 control characters
      const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f ||
                           (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
      out += control ? kReplacement : character;
  }
}

}  // namespace

std::string escaped(std::string_view text, std::size_t max_bytes) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = character_at(text, at);
    if (at + std::max<std::size_t>(length, 1) > max_bytes) return out + "...";
    if (length == 0) {
      out += kReplacement;
    } else {
      append_escaped(out, text.substr(at, length));
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string name(std::string_view text) { return "<bdi>" + escaped(text) + "</bdi>"; }

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string span(Duration d) {
  const auto total = std::chrono::round<std::chrono::seconds>(d).count();
  const std::string clock = fmt::format("{}:{:02}:{:02}", total / 3600 % 24, total / 60 % 60, total % 60);
  return total >= 86'400 ? fmt::format("{}d {}", total / 86'400, clock) : clock;
}

Unit unit_of(std::string_view resource) {
  if (resource == "cpu") return {1'000, "cpu"};
  const bool bytes = resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  if (bytes) return {1024.0 * 1024 * 1024, "GiB"};
  return {1, std::string(resource)};
}

std::string table(const TableText& text) {
  std::string out = text.numbers ? "<table class=\"n\">" : "<table>";
  out += "<caption>" + escaped(text.caption) + "</caption><thead><tr>";
  for (const auto& cell : text.header) out += "<th scope=\"col\">" + name(cell) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& row : text.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      out += i == 0 ? "<th scope=\"row\">" + name(row[i]) + "</th>" : "<td>" + name(row[i]) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

}  // namespace berth::simulate::html
