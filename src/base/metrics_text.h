// Metrics in Prometheus' text format. Numbers are written as Prometheus' Go library writes them.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

// The shortest text that reads back as the same number: "428.57142857142856", "1e+06", "+Inf", "NaN".
std::string metric_number(double value);

// Writes the lines of one family; the series in the order of the calls.
class MetricFamilyText {
 public:
  using Labels = std::map<std::string, std::string>;

  // `type`: "counter", "gauge" or "histogram". Writes the head of the family. `out` must outlive this.
  MetricFamilyText(std::string& out, std::string_view name, std::string_view help, std::string_view type);

  // The series that follow go here; it must outlive this.
  void write_to(std::string& out) { out_ = &out; }

  void add(const Labels& labels, double value);
  struct Bucket {
    double limit;
    std::uint64_t count;  // of this bucket and those before it
  };
  // `buckets`: in order, the last one without a limit or not.
  void add_histogram(const Labels& labels, const std::vector<Bucket>& buckets, double sum, std::uint64_t count);

 private:
  void set_labels(const Labels& labels);
  void line(std::string_view suffix, double value);
  void bucket_line(std::string_view limit, std::uint64_t count);

  std::string* out_;
  std::string name_;
  std::string labels_;                    // of the present series: `a="x",b="y"`
  std::map<double, std::string> limits_;  // as texts
};

}  // namespace berth
