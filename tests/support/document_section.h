// Parts of documents that a test renders.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace berth::testing_support {

// The document has `wanted` between the comments "NAME: begin" and "NAME: end". With BERTH_UPDATE_DOCS in the
// environment it is written there instead.
inline void expect_section(const std::string& path, const std::string& name, const std::string& wanted) {
  std::stringstream bytes;
  bytes << std::ifstream(path).rdbuf();
  const std::string text = bytes.str();
  const std::string begin = "<!-- " + name + ": begin -->\n", end = "<!-- " + name + ": end -->";
  const std::size_t from = text.find(begin), to = text.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << path << " lost its marks";
  const std::size_t at = from + begin.size();
  if (std::getenv("BERTH_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << text.substr(0, at) << wanted << text.substr(to);
    return;
  }
  EXPECT_EQ(text.substr(at, to - at), wanted) << "run this test with BERTH_UPDATE_DOCS=1 and look at the change";
}

}  // namespace berth::testing_support
