#include "house/tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>

#include "source_dir.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFolders = {".ci",       "bench",   "cmake", "config", "docs", "fuzz",
                                 "packaging", "scripts", "src",   "tests",  "web"};
const std::set<std::string> kForeign = {"config/external", "tests/conformance/recordings", "tests/journal/golden",
                                        "web/dist", "web/node_modules"};
const std::set<std::string> kExtensions = {"",    ".h",  ".cpp", ".cmake", ".css", ".html", ".md", ".mjs",
                                           ".py", ".sh", ".ts",  ".tsx",   ".txt", ".yaml", ".yml"};
constexpr std::uintmax_t kMostBytes = 1u << 20;  // larger files are data

void add(const fs::path& path, std::vector<TextFile>& out) {
  if (!kExtensions.contains(path.extension().string()) || fs::file_size(path) > kMostBytes) return;
  TextFile file{fs::relative(path, source_path("")), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.find('\0') != std::string::npos) return;  // no text
    file.lines.push_back(std::move(line));
  }
  out.push_back(std::move(file));
}

std::vector<TextFile> read_tree() {
  const fs::path root = source_path("");
  std::vector<TextFile> out;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && entry.path().filename() != "LICENSE") add(entry.path(), out);
  }
  for (const char* folder : kFolders) {
    if (!fs::exists(root / folder)) continue;
    for (auto it = fs::recursive_directory_iterator(root / folder); it != fs::recursive_directory_iterator(); ++it) {
      if (it->is_directory() && kForeign.contains(fs::relative(it->path(), root).string())) {
        it.disable_recursion_pending();
      } else if (it->is_regular_file()) {
        add(it->path(), out);
      }
    }
  }
  std::ranges::sort(out, {}, &TextFile::path);
  return out;
}

}  // namespace

std::string TextFile::where(std::size_t line) const { return path.string() + ":" + std::to_string(line + 1); }

bool TextFile::is_source() const { return path.extension() == ".h" || path.extension() == ".cpp"; }

const std::vector<TextFile>& tree() {
  static const std::vector<TextFile> files = read_tree();
  return files;
}

std::vector<const TextFile*> files_below(const std::string& folder) {
  std::vector<const TextFile*> out;
  for (const TextFile& file : tree()) {
    if (lies_in(file.path, folder)) out.push_back(&file);
  }
  return out;
}

std::string comment_of(const std::string& line) {
  const auto at = line.find("//");
  return at == std::string::npos ? std::string() : line.substr(at);
}

bool lies_in(const std::filesystem::path& path, const std::string& file_or_folder) {
  const std::string text = path.string();
  return text == file_or_folder || text.starts_with(file_or_folder + "/");
}

}  // namespace berth::house
