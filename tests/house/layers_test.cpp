// The folders of src include each other in one direction only, and the sources follow a few style rules.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "source_dir.h"

namespace berth::house::layers_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = source_path("");

// Allowed includes (docs/architecture.md, "The rooms"). A folder may always include itself.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"base", {}},
    {"api", {"base"}},
    {"cel", {"base"}},
    {"engine", {"base", "api"}},
    {"journal", {"base", "api", "engine"}},
    {"kube", {"base", "api"}},
    {"jobs", {"base", "api", "cel"}},
    {"volcano", {"base", "api", "engine"}},
    {"multikueue", {"base", "api"}},
    {"controller", {"base", "api", "engine", "journal", "kube", "jobs", "volcano", "multikueue"}},
    {"http", {"base"}},
    {"serve", {"base", "api", "http"}},
    {"console", {"base", "api", "http", "kube", "serve"}},
    {"embedded/apiserver", {"base", "api", "cel", "http"}},
    {"embedded/cluster", {"base", "api", "kube", "jobs"}},
    {"embedded/simulate",
     {"base", "api", "cel", "engine", "journal", "kube", "jobs", "volcano", "controller", "http", "embedded/apiserver",
      "embedded/cluster"}},
    {"cli",
     {"base", "api", "cel", "engine", "journal", "http", "kube", "jobs", "volcano", "controller", "serve", "console"}},
    {"embedded/lab", {"base", "api", "http", "kube", "cli", "embedded/apiserver"}},
    {"embedded/commands",
     {"base", "api", "cel", "engine", "journal", "http", "kube", "jobs", "volcano", "controller", "serve", "console",
      "cli", "embedded/apiserver", "embedded/cluster", "embedded/simulate"}},
    {"main", {"cli", "embedded/commands", "embedded/lab"}},
};

struct SourceFile {
  fs::path path;  // relative to the tree
  std::vector<std::string> lines;
};

std::vector<SourceFile> sources(const fs::path& folder) {
  std::vector<SourceFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    SourceFile file{fs::relative(entry.path(), kRoot), {}};
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  return files;
}

// The folder of src that holds rooms instead of files: what only the embedded mode and the tests need.
const std::string kEmbedded = "embedded";

// The room of a path below src; empty when the path is not in a room.
std::string room_of(const fs::path& path) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  const std::size_t folders = !parts.empty() && parts[0] == kEmbedded ? 2 : 1;
  if (parts.size() <= folders) return {};
  return folders == 1 ? parts[0].string() : (parts[0] / parts[1]).string();
}

// The path of a quoted include; empty for other lines.
std::string quoted_include(const std::string& line) {
  if (!line.starts_with("#include \"")) return {};
  const auto end = line.find('"', 10);
  return end == std::string::npos ? std::string() : line.substr(10, end - 10);
}

TEST(Layers, EveryRoomIsKnown) {
  std::set<std::string> rooms;
  for (const auto& file : sources("src")) rooms.insert(room_of(fs::relative(file.path, "src")));
  for (const auto& room : rooms) EXPECT_TRUE(kMayInclude.contains(room)) << room;
  for (const auto& [room, may_include] : kMayInclude) EXPECT_TRUE(rooms.contains(room)) << room << " has no file";
}

TEST(Layers, IncludesPointDownwards) {
  std::size_t arrows = 0;
  for (const auto& file : sources("src")) {
    const std::string room = room_of(fs::relative(file.path, "src"));
    for (const auto& line : file.lines) {
      const std::string target = quoted_include(line);
      const std::string other = room_of(target);
      if (!kMayInclude.contains(other) || other == room) continue;
      ++arrows;
      EXPECT_TRUE(kMayInclude.at(room).contains(other))
          << file.path << " includes " << target << ": " << room << " may not include " << other;
    }
  }
  EXPECT_GT(arrows, 0u);
}

using Arrow = std::pair<std::string, std::string>;  // from a folder to one that it includes

// All arrows between folders of src, each with a file that includes.
std::map<Arrow, std::string> arrows_between_folders() {
  std::map<Arrow, std::string> arrows;
  for (const auto& file : sources("src")) {
    const std::string folder = fs::relative(file.path, "src").parent_path().string();
    for (const auto& line : file.lines) {
      const std::string target = quoted_include(line);
      const std::string other = fs::path(target).parent_path().string();
      if (!other.empty() && other != folder && fs::exists(kRoot / "src" / target))
        arrows.emplace(Arrow(folder, other), file.path.string() + " includes " + target);
    }
  }
  return arrows;
}

TEST(Layers, FoldersHaveNoCycles) {
  auto arrows = arrows_between_folders();
  EXPECT_GT(arrows.size(), 50u);
  // A folder that includes no other one is in no cycle: take it away, and go on with the rest.
  for (std::size_t before = 0; before != arrows.size();) {
    before = arrows.size();
    std::set<std::string> including;
    for (const auto& [arrow, why] : arrows) including.insert(arrow.first);
    std::erase_if(arrows, [&](const auto& entry) { return !including.contains(entry.first.second); });
  }
  for (const auto& [arrow, why] : arrows)
    ADD_FAILURE() << why << ": " << arrow.first << " is in a cycle of folders, or above one";
}

TEST(Layers, TheEngineIsPure) {
  // These would let a decision depend on something other than an event.
  const std::vector<std::string> banned = {"<thread>",        "<mutex>",   "<atomic>",     "<random>",     "<iostream>",
                                           "<fstream>",       "std::rand", "system_clock", "steady_clock", "base/log.h",
                                           "base/executor.h", "getenv",    "double ",      "float "};
  for (const auto& file : sources("src/engine")) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = file.lines[i].substr(0, file.lines[i].find("//"));
      for (const auto& word : banned) {
        EXPECT_EQ(code.find(word), std::string::npos) << file.path << ":" << i + 1 << " uses " << word;
      }
      // The order of a hash map must not affect decisions: each declaration needs the comment "never iterated".
      if (code.find("unordered_") != std::string::npos && !code.starts_with("#include")) {
        const std::string remark = file.lines[i] + (i > 0 ? file.lines[i - 1] : std::string());
        EXPECT_NE(remark.find("never iterated"), std::string::npos) << file.path << ":" << i + 1;
      }
    }
  }
}

TEST(Style, HeadersSayWhatTheyPromise) {
  for (const auto& file : sources("src")) {
    if (file.path.extension() != ".h") continue;
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_TRUE(file.lines[0].starts_with("// ")) << file.path << ": the first line says what the header is for";
    bool guarded = false;
    for (const auto& line : file.lines) guarded = guarded || line == "#pragma once";
    EXPECT_TRUE(guarded) << file.path << ": #pragma once is missing";
  }
}

TEST(Style, NothingUnfinishedAndNoBannedCalls) {
  // Split so that this file does not match itself.
  const std::vector<std::string> banned = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                           std::string("std::") + "regex", std::string("using namespace") + " std;"};
  for (const fs::path folder : {"src", "tests", "bench", "fuzz"}) {
    for (const auto& file : sources(folder)) {
      for (std::size_t i = 0; i < file.lines.size(); ++i) {
        for (const auto& word : banned) {
          EXPECT_EQ(file.lines[i].find(word), std::string::npos) << file.path << ":" << i + 1 << " has " << word;
        }
      }
    }
  }
}

TEST(Style, HeavyBoostHeadersStayOutOfHeaders) {
  const std::set<std::string> light = {"boost/json/value.hpp", "boost/json/fwd.hpp"};
  // Private headers, shared by the files that implement a connection.
  const std::set<std::string> in_rooms_that_speak_https = {"src/http/call.h", "src/http/http1_session.h",
                                                           "src/http/http2_session.h", "src/http/hub.h",
                                                           "src/http/transport.h"};
  for (const auto& file : sources("src")) {
    if (file.path.extension() != ".h") continue;
    const std::string path = file.path.string();
    const bool clients = path.starts_with("src/kube/transport/") && path != "src/kube/transport/transport.h";
    if (clients || in_rooms_that_speak_https.contains(path)) continue;
    for (const auto& line : file.lines) {
      if (!line.starts_with("#include <boost/")) continue;
      const std::string header = line.substr(10, line.find('>') - 10);
      EXPECT_TRUE(light.contains(header) || header.starts_with("boost/unordered/"))
          << file.path << " includes " << header;
    }
  }
}

}  // namespace
}  // namespace berth::house::layers_test
