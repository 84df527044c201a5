#include "base/metrics_text.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace berth {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr int kLeastExponent = -4, kMostExponent = 5;  // numbers outside this range are written with an exponent

void add_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (quotes && c == '"')) {
      out.append(1, '\\').append(1, c);
    } else {
      out += c;
    }
  }
}

std::string_view name_of(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Histogram:
      return "histogram";
    case MetricType::Summary:
      return "summary";
    default:
      return "untyped";
  }
}

// One family's lines.
class FamilyWriter {
 public:
  FamilyWriter(std::string& out, const prometheus::MetricFamily& family) : out_(out), family_(family) {}

  void write() {
    (out_ += "# HELP ") += family_.name;
    add_escaped(out_ += ' ', family_.help, false);
    (((out_ += "\n# TYPE ") += family_.name) += ' ') += name_of(family_.type);
    out_ += '\n';
    for (const ClientMetric& metric : family_.metric) write(metric);
  }

 private:
  void write(const ClientMetric& metric) {
    switch (family_.type) {
      case MetricType::Counter:
        return line(metric, "", metric.counter.value);
      case MetricType::Gauge:
        return line(metric, "", metric.gauge.value);
      case MetricType::Histogram:
        return histogram(metric);
      case MetricType::Summary:
        return summary(metric);
      default:
        return line(metric, "", metric.untyped.value);
    }
  }

  void histogram(const ClientMetric& metric) {
    const auto& data = metric.histogram;
    bool has_all = false;  // the +Inf bucket is there
    for (const auto& bucket : data.bucket) {
      has_all = has_all || std::isinf(bucket.upper_bound);
      line(metric, "_bucket", static_cast<double>(bucket.cumulative_count), "le", bucket.upper_bound);
    }
    const auto count = static_cast<double>(data.sample_count);
    if (!has_all) line(metric, "_bucket", count, "le", INFINITY);
    line(metric, "_sum", data.sample_sum);
    line(metric, "_count", count);
  }

  void summary(const ClientMetric& metric) {
    const auto& data = metric.summary;
    for (const auto& quantile : data.quantile) line(metric, "", quantile.value, "quantile", quantile.quantile);
    line(metric, "_sum", data.sample_sum);
    line(metric, "_count", static_cast<double>(data.sample_count));
  }

  void line(const ClientMetric& metric, std::string_view suffix, double value, std::string_view label = {},
            double at = 0) {
    (out_ += family_.name) += suffix;
    char before = '{';
    const auto add_label = [&](std::string_view name, std::string_view text) {
      ((out_ += before) += name) += "=\"";
      add_escaped(out_, text, true);
      out_ += '"';
      before = ',';
    };
    for (const auto& each : metric.label) add_label(each.name, each.value);
    if (!label.empty()) add_label(label, metric_number(at));
    if (before == ',') out_ += '}';
    (out_ += ' ') += metric_number(value);
    out_ += '\n';
  }

  std::string& out_;
  const prometheus::MetricFamily& family_;
};

}  // namespace

std::string metric_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[64];
  const auto scientific = std::to_chars(text, std::end(text), value, std::chars_format::scientific);
  const std::string_view written(text, static_cast<std::size_t>(scientific.ptr - text));
  const std::size_t e = written.rfind('e') + 1;
  int exponent = 0;
  std::from_chars(text + e + (text[e] == '+' ? 1 : 0), scientific.ptr, exponent);
  if (exponent < kLeastExponent || exponent > kMostExponent) return std::string(written);
  const auto fixed = std::to_chars(text, std::end(text), value, std::chars_format::fixed);
  return std::string(text, fixed.ptr);
}

std::string metrics_text(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  for (const prometheus::MetricFamily& family : families) {
    if (!family.metric.empty()) FamilyWriter(out, family).write();
  }
  return out;
}

}  // namespace berth
