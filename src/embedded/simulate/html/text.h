// Text for HTML and SVG: escaped names, numbers, amounts and times, tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace berth::simulate::html {

// Escaped for text and for attributes in double quotes: markup, control characters, and bytes that are not UTF-8 (they
// become U+FFFD). At most `max_bytes` of the text; "..." says that there was more.
std::string escaped(std::string_view text, std::size_t max_bytes = 300);
// The same, within <bdi>, so that its direction of writing changes nothing around it.
std::string name(std::string_view text);

// At most two decimals, no trailing zeros: "1.5", "0.25", "12".
std::string number(double value);
// "0:02:30", or "3d 12:00:00" from a day on.
std::string span(Duration d);

// How amounts of a resource are shown: counts are divided by `scale`; `unit` follows, as in "GiB" or "cpu".
struct Unit {
  double scale = 1;
  std::string unit;
};
Unit unit_of(std::string_view resource);

// All cells are plain text. The first cell of a row is its heading. `numbers`: the other cells are aligned to the
// right.
struct TableText {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  bool numbers = true;
};
std::string table(const TableText& text);

}  // namespace berth::simulate::html
