#include "cli/table.h"

#include <algorithm>

namespace berth::cli {
namespace {

constexpr std::size_t kGap = 3;  // between two columns, as kubectl has it

// The number of characters of UTF-8 text.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\033[32m";
    case Tone::kWaiting:
      return "\033[33m";
    case Tone::kBad:
      return "\033[31m";
    default:
      return {};
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

std::string Table::text(bool colour) const {
  std::vector<std::vector<Cell>> lines;
  lines.emplace_back();
  for (const std::string& column : columns_) lines.back().push_back({column, Tone::kPlain});
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    lines.push_back(row);
    lines.back().resize(columns_.size());
  }
  for (auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i].text = printable(line[i].text);
      widths[i] = std::max(widths[i], length_of(line[i].text));
    }
  }
  std::string out;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view on = colour ? colour_of(line[i].tone) : std::string_view();
      row.append(on).append(line[i].text);
      if (!on.empty()) row += "\033[0m";
      if (i + 1 < line.size()) row.append(widths[i] - length_of(line[i].text) + kGap, ' ');
    }
    while (row.ends_with(' ')) row.pop_back();
    out += row + "\n";
  }
  return out;
}

}  // namespace berth::cli
