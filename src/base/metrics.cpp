#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/assert.h"

namespace berth {
namespace {

constexpr std::size_t kMaxSeries =
    10'000;  // per family: names of objects that come and go must not fill the memory

using LabelMap = std::map<std::string, std::string>;

bool has_all(const LabelMap& labels, const MetricLabels& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& label) {
    const auto it = labels.find(label.first);
    return it != labels.end() && it->second == label.second;
  });
}

}  // namespace

// The library's family of one kind (the others are null) and the label sets in use.
struct MetricFamily::Impl {
  prometheus::Counter& dropped;
  prometheus::Family<prometheus::Counter>* counters = nullptr;
  prometheus::Family<prometheus::Gauge>* gauges = nullptr;
  prometheus::Family<prometheus::Histogram>* histograms = nullptr;
  std::vector<double> buckets;
  std::mutex mutex;
  std::set<LabelMap> series;

  explicit Impl(prometheus::Counter& d) : dropped(d) {}

  // Applies `change` to the series of these labels, which is made when it is new and there is room. The lock
  // is held throughout: a series that is removed meanwhile is gone from memory.
  template <typename T, typename Change, typename... Arguments>
  void with(prometheus::Family<T>& family, const MetricLabels& labels, Change change,
            const Arguments&... arguments) {
    const LabelMap map(labels.begin(), labels.end());
    const std::lock_guard lock(mutex);
    if (!series.contains(map)) {
      if (series.size() == kMaxSeries) return dropped.Increment();
      series.insert(map);
    }
    change(family.Add(map, arguments...));
  }

  template <typename T, typename... Arguments>
  static void take_away(prometheus::Family<T>* family, const LabelMap& labels,
                        const Arguments&... arguments) {
    if (family) family->Remove(&family->Add(labels, arguments...));
  }
};

void MetricFamily::remove(const MetricLabels& part) {
  const std::lock_guard lock(impl_->mutex);
  std::erase_if(impl_->series, [&](const LabelMap& labels) {
    if (!has_all(labels, part)) return false;
    Impl::take_away(impl_->counters, labels);
    Impl::take_away(impl_->gauges, labels);
    Impl::take_away(impl_->histograms, labels, impl_->buckets);
    return true;
  });
}

void CounterFamily::add(const MetricLabels& labels, double amount) {
  BERTH_INVARIANT(amount >= 0);
  impl_->with(*impl_->counters, labels, [&](prometheus::Counter& counter) { counter.Increment(amount); });
}

void GaugeFamily::set(const MetricLabels& labels, double value) {
  impl_->with(*impl_->gauges, labels, [&](prometheus::Gauge& gauge) { gauge.Set(value); });
}

void HistogramFamily::observe(const MetricLabels& labels, double value) {
  impl_->with(
      *impl_->histograms, labels, [&](prometheus::Histogram& histogram) { histogram.Observe(value); },
      impl_->buckets);
}

struct Metrics::Impl {
  prometheus::Registry registry;
  prometheus::Counter& dropped = prometheus::BuildCounter()
                                     .Name("berth_metric_series_dropped_total")
                                     .Help("Values not kept because their metric has too many series.")
                                     .Register(registry)
                                     .Add({});
  std::set<std::string> names;

  void declare(const std::string& name) { BERTH_INVARIANT(names.insert(name).second); }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

CounterFamily Metrics::counter(const std::string& name, const std::string& help) {
  impl_->declare(name);
  auto family = std::make_shared<MetricFamily::Impl>(impl_->dropped);
  family->counters = &prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return CounterFamily(std::move(family));
}

GaugeFamily Metrics::gauge(const std::string& name, const std::string& help) {
  impl_->declare(name);
  auto family = std::make_shared<MetricFamily::Impl>(impl_->dropped);
  family->gauges = &prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return GaugeFamily(std::move(family));
}

HistogramFamily Metrics::histogram(const std::string& name, const std::string& help,
                                   std::vector<double> buckets) {
  impl_->declare(name);
  auto family = std::make_shared<MetricFamily::Impl>(impl_->dropped);
  family->histograms = &prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  family->buckets = std::move(buckets);
  return HistogramFamily(std::move(family));
}

std::string Metrics::text() const {
  auto families = impl_->registry.Collect();
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (auto& family : families) {
    std::sort(family.metric.begin(), family.metric.end(), [](const auto& a, const auto& b) {
      const auto key = [](const auto& metric) {
        std::vector<std::pair<std::string, std::string>> labels;
        for (const auto& label : metric.label) labels.emplace_back(label.name, label.value);
        return labels;
      };
      return key(a) < key(b);
    });
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace berth
