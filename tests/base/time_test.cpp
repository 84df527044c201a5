#include "base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace berth::time_test {
namespace {

TEST(Time, ReadsRfc3339) {
  const struct {
    std::string text, normal;
  } cases[] = {
      {"2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000000Z"},
      {"2026-11-21T09:30:00.25Z", "2026-11-21T09:30:00.250000Z"},
      {"2026-11-21T09:30:00.123456789Z", "2026-11-21T09:30:00.123456Z"},
      {"2026-11-21T01:30:00+02:00", "2026-11-20T23:30:00.000000Z"},
      {"2024-02-29T00:00:00-00:30", "2024-02-29T00:30:00.000000Z"},
      {"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
  };
  for (const auto& c : cases) {
    const auto time = parse_time(c.text);
    ASSERT_TRUE(time) << c.text;
    EXPECT_EQ(format_micro_time(*time), c.normal);
  }
  EXPECT_EQ(format_time(*parse_time("2026-11-21T09:30:00.999Z")), "2026-11-21T09:30:00Z");
}

TEST(Time, RefusesOtherTexts) {
  for (const std::string text :
       {"", "yesterday", "2026-11-21", "2026-11-21T09:30:00", "2026-13-21T09:30:00Z", "2026-02-30T09:30:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T09:60:00Z", "2026-11-21T09:30:00.Z", "2026-11-21T09:30:00Zx",
        "2026-11-21T09:30:00+2:00", "2026-11-21 09:30:00Z", "2026-11-21T09:30:00+25:00"})
    EXPECT_FALSE(parse_time(text)) << text;
}

TEST(Duration, PrintsAsGoDoes) {
  const struct {
    std::int64_t microseconds;
    std::string text;
  } cases[] = {{0, "0s"},
               {1, "1\u00b5s"},
               {1'500, "1.5ms"},
               {250'000, "250ms"},
               {1'500'000, "1.5s"},
               {60'000'000, "1m0s"},
               {3'605'000'000, "1h0m5s"},
               {-90'000'000, "-1m30s"},
               {10, "10\u00b5s"},
               {86'400'000'000, "24h0m0s"}};
  for (const auto& c : cases) EXPECT_EQ(format_duration(Duration(c.microseconds)), c.text);
}

TEST(Duration, ReadsWhatGoReads) {
  const struct {
    std::string text;
    std::int64_t microseconds;
  } cases[] = {{"90s", 90'000'000},
               {"1h30m", 5'400'000'000},
               {"250ms", 250'000},
               {"1.5h", 5'400'000'000},
               {"0", 0},
               {"-1m", -60'000'000},
               {"+5s", 5'000'000},
               {"1us", 1},
               {"1\u00b5s", 1},
               {"1\u03bcs", 1},
               {"1500ns", 1},
               {".5s", 500'000},
               {"1.s", 1'000'000},
               {"2540400h10m10.000000000s", 9145440610000000}};
  for (const auto& c : cases) {
    const auto duration = parse_duration(c.text);
    ASSERT_TRUE(duration) << c.text;
    EXPECT_EQ(duration->count(), c.microseconds) << c.text;
  }
  for (const std::string text :
       {"", "3", "-", "s", ".", "-.s", "1x", "1h2", "3000000h", "1..5s", "1s ", "00x", "9223372036854775808ns"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

RC_GTEST_PROP(Duration, PrintedTextReadsBack, (std::int64_t microseconds)) {
  const Duration d(microseconds % 1'000'000'000'000'000);
  RC_ASSERT(*parse_duration(format_duration(d)) == d);
}

RC_GTEST_PROP(Time, PrintedTextReadsBack, ()) {
  const Time t{Duration(*rc::gen::inRange<std::int64_t>(-62'135'596'800'000'000, 253'402'300'799'999'999))};
  RC_ASSERT(*parse_time(format_micro_time(t)) == t);
  RC_ASSERT(*parse_time(format_time(t)) == to_seconds(t));
}

}  // namespace
}  // namespace berth::time_test
