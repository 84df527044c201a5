// The targets of links in the documents exist: files, folders and the headings within them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "source_dir.h"

namespace berth::house::docs_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = source_path("");

std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  const auto consider = [&](const fs::path& path) {
    if (path.extension() == ".md") found.push_back(path);
  };
  for (const auto& entry : fs::directory_iterator(kRoot)) consider(entry.path());
  for (const char* folder : {"bench", "config", "docs", "fuzz", "packaging", "scripts", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) consider(entry.path());
  }
  return found;
}

// The text without code blocks: brackets in code are not links.
std::string prose_of(const fs::path& path) {
  std::ifstream in(path);
  std::string out;
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find("```") != std::string::npos) {
      code = !code;
      continue;
    }
    if (!code) out += line + "\n";
  }
  return out;
}

// Anchors as GitHub generates them: lower case, spaces become hyphens, punctuation is removed.
std::string anchor_of(const std::string& heading) {
  std::string out;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ')
      out += '-';
    else if (c == '-' || c == '_' || byte >= 0x80 || std::isalnum(byte))
      out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::set<std::string> anchors_of(const fs::path& path) {
  std::istringstream text(prose_of(path));
  std::set<std::string> out;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) out.insert(anchor_of(line.substr(std::min(line.find_first_not_of("# "), line.size()))));
  }
  return out;
}

// The text between `](` and `)`.
std::vector<std::string> links_of(const fs::path& path) {
  const std::string text = prose_of(path);
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
    at += 2;
    out.push_back(text.substr(at, text.find(')', at) - at));
  }
  return out;
}

TEST(Documents, PointAtWhatIsThere) {
  std::size_t links = 0;
  for (const fs::path& path : documents()) {
    for (const std::string& link : links_of(path)) {
      if (link.find("://") != std::string::npos) continue;
      ++links;
      const std::size_t hash = link.find('#');
      const fs::path target = hash == 0 ? path : path.parent_path() / link.substr(0, hash);
      EXPECT_TRUE(fs::exists(target)) << fs::relative(path, kRoot) << " points at " << link;
      if (hash == std::string::npos || target.extension() != ".md" || !fs::exists(target)) continue;
      EXPECT_TRUE(anchors_of(target).contains(link.substr(hash + 1)))
          << fs::relative(path, kRoot) << " points at the heading " << link;
    }
  }
  EXPECT_GT(links, 20U);
}

// Commands that users copy name files of the repository.
TEST(Documents, NameFilesThatAreThere) {
  constexpr std::string_view kPartOfAName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  std::size_t files = 0;
  for (const fs::path& path : documents()) {
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    for (std::size_t begin = 0; (begin = text.find_first_of(kPartOfAName, begin)) != std::string::npos;) {
      const std::size_t end = std::min(text.find_first_not_of(kPartOfAName, begin), text.size());
      std::string name = text.substr(begin, end - begin);
      begin = end;
      if (name.starts_with("./")) name.erase(0, 2);
      while (name.ends_with('.')) name.pop_back();
      const std::string folder = name.substr(0, name.find('/') + 1);
      if (folder != "config/" && folder != "scripts/" && folder != "docs/" && folder != "packaging/" &&
          folder != "bench/")
        continue;
      if (name.ends_with('-')) continue;  // a pattern follows
      ++files;
      EXPECT_TRUE(fs::exists(kRoot / name) || fs::exists(path.parent_path() / name))
          << fs::relative(path, kRoot) << " names " << name;
    }
  }
  EXPECT_GT(files, 50U);
}

}  // namespace
}  // namespace berth::house::docs_test
