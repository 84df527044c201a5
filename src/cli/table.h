// Tables for people: columns as wide as their longest cell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

enum class Tone : std::uint8_t { kPlain, kGood, kWaiting, kBad };  // green, yellow, red on a terminal

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // The header and the rows, each ended by a newline. Control characters in cells become spaces: cells hold what
  // others wrote, and a terminal would follow their orders.
  std::string text(bool colour) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// The text with spaces in place of control characters.
std::string printable(std::string_view text);

}  // namespace berth::cli
