#include "api/printing/table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace berth::api::table_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Json parsed(std::string_view text) { return parse_json(text).value(); }

TEST(HumanDuration, PrintsOneOrTwoUnits) {
  const std::pair<Duration, const char*> kCases[] = {
      {seconds(-2), "<invalid>"},
      {std::chrono::milliseconds(-1500), "0s"},
      {seconds(0), "0s"},
      {seconds(119), "119s"},
      {seconds(120), "2m"},
      {seconds(330), "5m30s"},
      {seconds(599), "9m59s"},
      {minutes(10), "10m"},
      {minutes(179), "179m"},
      {minutes(180), "3h"},
      {minutes(185), "3h5m"},
      {hours(8), "8h"},
      {hours(47), "47h"},
      {hours(48), "2d"},
      {hours(53), "2d5h"},
      {hours(24 * 8), "8d"},
      {hours(24 * 324), "324d"},
      {hours(24 * 365 * 2), "2y"},
      {hours(24 * (365 * 2 + 10)), "2y10d"},
      {hours(24 * 365 * 8), "8y"},
  };
  for (const auto& [duration, text] : kCases) EXPECT_EQ(human_duration(duration), text);
}

TEST(SelectorText, WritesASelectorInOneLine) {
  EXPECT_EQ(selector_text(nullptr), "<none>");
  Json empty = parsed("{}");
  EXPECT_EQ(selector_text(&empty), "<none>");
  Json full = parsed(R"({"matchLabels":{"b":"2","a":"1"},"matchExpressions":[
      {"key":"k","operator":"In","values":["y","x"]},{"key":"n","operator":"NotIn","values":["z"]},
      {"key":"e","operator":"Exists"},{"key":"d","operator":"DoesNotExist"}]})");
  EXPECT_EQ(selector_text(&full), "a=1,b=2,k in (x,y),n notin (z),e,!d");
}

}  // namespace
}  // namespace berth::api::table_test
