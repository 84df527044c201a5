// Metrics as text, in the exposition format of Prometheus and with numbers written as its Go library writes them.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace berth {

// The shortest text that reads back as the same number: "428.57142857142856", "1e+06", "+Inf", "NaN".
std::string metric_number(double value);

// Families and their series in the order given; without any series a family is left out.
std::string metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace berth
