// Counters, gauges and histograms in Prometheus' text format. Callable from any thread.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace berth {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;  // in any order, each name once

// The common part of the three kinds: series that differ in their labels.
class MetricFamily {
 public:
  // Removes every series that has all of these labels, e.g. those of a deleted queue. No labels: removes nothing.
  void remove(const MetricLabels& part);

  // From now on every series is written with further labels, which are looked up by its labels of these names (at
  // least one; all series have them). `otherwise`: those of series that amend() says nothing about. Call once.
  void amend_by(std::vector<std::string> names, MetricLabels otherwise);
  // The further labels of the series with these labels, now and later; they must not be labels of the series itself.
  // `part`: the names given to amend_by(), in the same order.
  void amend(const MetricLabels& part, MetricLabels further);
  void amend_no_more(const MetricLabels& part);  // as `otherwise` again

  struct Impl;

 protected:
  explicit MetricFamily(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

class CounterFamily : public MetricFamily {
 public:
  void add(const MetricLabels& labels, double amount = 1);  // amount >= 0

 private:
  friend class Metrics;
  using MetricFamily::MetricFamily;
};

class GaugeFamily : public MetricFamily {
 public:
  void set(const MetricLabels& labels, double value);

 private:
  friend class Metrics;
  using MetricFamily::MetricFamily;
};

class HistogramFamily : public MetricFamily {
 public:
  void observe(const MetricLabels& labels, double value);

 private:
  friend class Metrics;
  using MetricFamily::MetricFamily;
};

// All metrics of a program. Each family is declared once under its name and has at most 10,000 series. A value for a
// further series is dropped and counted in berth_metric_series_dropped_total.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  CounterFamily counter(const std::string& name, const std::string& help);
  GaugeFamily gauge(const std::string& name, const std::string& help);
  HistogramFamily histogram(const std::string& name, const std::string& help, std::vector<double> buckets);

  std::string text() const;  // sorted by name, then labels

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth
