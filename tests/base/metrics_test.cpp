#include "base/metrics.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Metrics, PrintsSortedText) {
  Metrics metrics;
  auto requests = metrics.counter("requests_total", "Requests.");
  auto depth = metrics.gauge("depth", "Waiting.");
  requests.add({{"verb", "patch"}});
  requests.add({{"verb", "get"}}, 2);
  requests.add({{"verb", "patch"}});
  depth.set({}, 7);
  EXPECT_EQ(
      metrics.text(),
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
  EXPECT_NE(text.find("seconds_count{queue=\"a\"} 3\n"), std::string::npos);
}

TEST(Metrics, SeriesOfOneLabelGoTogether) {
  Metrics metrics;
  auto pending = metrics.gauge("pending", "Pending.");
  auto waits = metrics.histogram("waits", "Waits.", {1});
  for (const std::string queue : {"a", "b"})
    for (const std::string status : {"active", "inadmissible"})
      pending.set({{"queue", queue}, {"status", status}}, 1);
  waits.observe({{"queue", "a"}}, 1);
  pending.remove({{"queue", "a"}});
  waits.remove({{"queue", "a"}});
  const std::string text = metrics.text();
  EXPECT_EQ(text.find("\"a\""), std::string::npos) << text;
  EXPECT_NE(text.find("pending{queue=\"b\",status=\"active\"} 1"), std::string::npos) << text;
  pending.set({{"queue", "a"}, {"status", "active"}}, 3);
  EXPECT_NE(metrics.text().find("pending{queue=\"a\",status=\"active\"} 3"), std::string::npos);
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
}  // namespace berth
