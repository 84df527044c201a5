// Metrics in Prometheus' text format. Numbers are written as Prometheus' Go library writes them.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace berth {

// The shortest text that reads back as the same number: "428.57142857142856", "1e+06", "+Inf", "NaN".
std::string metric_number(double value);

// Writes families and their series in the given order. Leaves out a family without series.
std::string metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace berth
