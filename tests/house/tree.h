// The text files of the repository, for the tests that look at all of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace berth::house {

struct TextFile {
  std::filesystem::path path;  // relative to the repository
  std::vector<std::string> lines;

  std::string where(std::size_t line) const;  // "src/base/json.h:12"; `line` counts from 0
  bool is_source() const;                     // C++: a header or an implementation
};

// All text files that people write: sources, tests, documents, scripts, manifests and the console's page. Files that
// were recorded or copied from other projects are left out.
const std::vector<TextFile>& tree();
// Those below a folder of the repository, such as "src" or "tests/house".
std::vector<const TextFile*> files_below(const std::string& folder);

// The comment of a line of C++; "" when it has none. A string with "//" in it counts as one.
std::string comment_of(const std::string& line);

// Whether the path is this file, or lies in this folder.
bool lies_in(const std::filesystem::path& path, const std::string& file_or_folder);

}  // namespace berth::house
