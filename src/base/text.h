// Small operations on text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace berth {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// ASCII letters in lower case; other bytes stay.
inline std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// "line 3, column 7" of the byte at `offset`, both counted from 1, columns in bytes.
inline std::string describe_position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// At most `max_bytes` of UTF-8 text, cut between characters.
inline std::string_view cut_text(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace berth
