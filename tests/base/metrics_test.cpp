#include "base/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/metrics_text.h"

namespace berth::metrics_test {
namespace {

TEST(Metrics, PrintsSortedText) {
  Metrics metrics;
  auto requests = metrics.counter("requests_total", "Requests.");
  auto depth = metrics.gauge("depth", "Waiting.");
  requests.add({{"verb", "patch"}});
  requests.add({{"verb", "get"}}, 2);
  requests.add({{"verb", "patch"}});
  depth.set({}, 7);
  EXPECT_EQ(metrics.text(),
            "# HELP berth_metric_series_dropped_total Values not kept because their metric has too many series.\n"
            "# TYPE berth_metric_series_dropped_total counter\n"
            "berth_metric_series_dropped_total 0\n"
            "# HELP depth Waiting.\n"
            "# TYPE depth gauge\n"
            "depth 7\n"
            "# HELP requests_total Requests.\n"
            "# TYPE requests_total counter\n"
            "requests_total{verb=\"get\"} 2\n"
            "requests_total{verb=\"patch\"} 2\n");
}

TEST(Metrics, HistogramsCountInBuckets) {
  Metrics metrics;
  auto seconds = metrics.histogram("seconds", "Time.", {0.1, 1});
  for (const double value : {0.05, 0.5, 5.0}) seconds.observe({{"queue", "a"}}, value);
  const std::string text = metrics.text();
  EXPECT_NE(text.find("seconds_bucket{queue=\"a\",le=\"0.1\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("seconds_bucket{queue=\"a\",le=\"1\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("seconds_bucket{queue=\"a\",le=\"+Inf\"} 3\nseconds_sum{queue=\"a\"} 5.55\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("seconds_count{queue=\"a\"} 3\n"), std::string::npos);
}

// Numbers have the forms of Go's strconv, as in Kueue's metrics.
TEST(Metrics, NumbersAreWholeAndShort) {
  const struct {
    double value;
    std::string_view text;
  } cases[] = {{0, "0"},
               {1, "1"},
               {-2.5, "-2.5"},
               {3000.0 / 7, "428.57142857142856"},
               {0.1, "0.1"},
               {1.0 / 3, "0.3333333333333333"},
               {999999, "999999"},
               {1000000, "1e+06"},
               {1234567.5, "1.2345675e+06"},
               {10737418240, "1.073741824e+10"},
               {0.0001, "0.0001"},
               {0.00002, "2e-05"},
               {INFINITY, "+Inf"},
               {-INFINITY, "-Inf"},
               {NAN, "NaN"}};
  for (const auto& c : cases) EXPECT_EQ(metric_number(c.value), c.text);
  Metrics metrics;
  metrics.gauge("share", "Share.").set({}, 3000.0 / 7);
  EXPECT_NE(metrics.text().find("share 428.57142857142856\n"), std::string::npos) << metrics.text();
}

TEST(Metrics, LabelsAndHelpAreEscaped) {
  Metrics metrics;
  metrics.gauge("odd", "One \\ two\n\"three\".").set({{"why", "a\"b\\c\nd"}}, 1);
  const std::string text = metrics.text();
  EXPECT_NE(text.find(R"(# HELP odd One \\ two\n"three".)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(odd{why="a\"b\\c\nd"} 1)"), std::string::npos) << text;
}

TEST(Metrics, SeriesOfOneLabelGoTogether) {
  Metrics metrics;
  auto pending = metrics.gauge("pending", "Pending.");
  auto waits = metrics.histogram("waits", "Waits.", {1});
  for (const std::string queue : {"a", "b"})
    for (const std::string status : {"active", "inadmissible"}) pending.set({{"queue", queue}, {"status", status}}, 1);
  waits.observe({{"queue", "a"}}, 1);
  pending.remove({{"queue", "a"}});
  waits.remove({{"queue", "a"}});
  const std::string text = metrics.text();
  EXPECT_EQ(text.find("\"a\""), std::string::npos) << text;
  EXPECT_NE(text.find("pending{queue=\"b\",status=\"active\"} 1"), std::string::npos) << text;
  pending.set({{"queue", "a"}, {"status", "active"}}, 3);
  EXPECT_NE(metrics.text().find("pending{queue=\"a\",status=\"active\"} 3"), std::string::npos);
}

TEST(Metrics, OnlySeriesWithAllLabelsAreTakenAway) {
  Metrics metrics;
  auto waits = metrics.gauge("waits", "Waits.");
  for (const std::string ns : {"x", "y"})
    for (const std::string name : {"a", "b"}) waits.set({{"namespace", ns}, {"name", name}}, 1);
  waits.remove({{"name", "a"}, {"namespace", "y"}});
  waits.remove({{"name", "c"}});
  waits.remove({{"name", "a"}, {"queue", "y"}});
  EXPECT_NE(metrics.text().find("waits{name=\"a\",namespace=\"x\"} 1\nwaits{name=\"b\",namespace=\"x\"} 1\n"
                                "waits{name=\"b\",namespace=\"y\"} 1\n"),
            std::string::npos)
      << metrics.text();
  waits.remove({{"namespace", "x"}});
  EXPECT_EQ(metrics.text().find("\"x\""), std::string::npos) << metrics.text();
  EXPECT_NE(metrics.text().find("waits{name=\"b\",namespace=\"y\"} 1\n"), std::string::npos);
}

TEST(Metrics, AFamilyHasABoundedNumberOfSeries) {
  Metrics metrics;
  auto pending = metrics.gauge("pending", "Pending.");
  for (int i = 0; i < 10'003; ++i) pending.set({{"queue", std::to_string(i)}}, 1);
  EXPECT_NE(metrics.text().find("berth_metric_series_dropped_total 3\n"), std::string::npos);
  pending.remove({{"queue", "5"}});
  pending.set({{"queue", "10002"}}, 1);
  EXPECT_NE(metrics.text().find("pending{queue=\"10002\"} 1\n"), std::string::npos);
}

}  // namespace
}  // namespace berth::metrics_test
