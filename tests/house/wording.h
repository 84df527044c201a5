// Words and turns of phrase that plain English replaced, and the files where one of them is right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::house {

struct Wording {
  std::string pattern;                     // RE2, on one line
  std::string instead;                     // what to write
  std::string example;                     // a line that has it
  std::vector<std::string> right_in = {};  // files and folders where it means something else or is quoted
  bool identifier = false;                 // only names of C++ count, outside comments and text in quotes
};

const std::vector<Wording>& wordings();

// Whether the line has what any of the patterns describes. Faster than has() for each of them.
bool may_have_any(std::string_view line);
// Whether the line has what the pattern describes. `cpp`: it is a line of C++.
bool has(const Wording& wording, std::string_view line, bool cpp = true);

}  // namespace berth::house
