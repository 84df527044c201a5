#include "base/log.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace berth::log_test {
namespace {

TEST(Log, TextIsOneLinePerEntry) {
  testing::internal::CaptureStderr();
  log::configure(log::Level::kInfo, log::Format::kText);
  log::debug("not shown");
  log::info("admitted", {{"workload", "a/b"}, {"why", "two\nlines"}, {"count", 3}});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.substr(text.find(' ')), " info  admitted workload=a/b why=\"two\\nlines\" count=3\n");
}

TEST(Log, JsonLinesAreObjects) {
  testing::internal::CaptureStderr();
  log::configure(log::Level::kWarn, log::Format::kJson);
  log::warn("careful", {{"object", "a\"b"}});
  log::configure(log::Level::kInfo, log::Format::kText);
  const auto line = parse_json(testing::internal::GetCapturedStderr());
  ASSERT_TRUE(line);
  EXPECT_EQ(string_at(*line, {"level"}), "warn");
  EXPECT_EQ(string_at(*line, {"msg"}), "careful");
  EXPECT_EQ(string_at(*line, {"object"}), "a\"b");
}

TEST(Log, LevelsHaveNames) {
  EXPECT_EQ(log::parse_level("warn").value(), log::Level::kWarn);
  EXPECT_EQ(log::parse_level("loud").error().message, "log level \"loud\": expected debug, info, warn or error");
}

}  // namespace
}  // namespace berth::log_test
