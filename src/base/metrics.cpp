#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "base/assert.h"
#include "base/metrics_text.h"

namespace berth {
namespace {

constexpr std::size_t kMaxSeries = 10'000;  // per family: names of objects that come and go must not fill the memory

constexpr const char* kDropped = "berth_metric_series_dropped_total";
constexpr const char* kDroppedHelp = "Values not kept because their metric has too many series.";

using LabelMap = std::map<std::string, std::string>;

bool has_all(const LabelMap& labels, const MetricLabels& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& label) {
    const auto it = labels.find(label.first);
    return it != labels.end() && it->second == label.second;
  });
}

// The same labels in any order give the same key. Labels hold no zero byte: names and values are API names.
std::string key_of(const MetricLabels& labels) {
  std::vector<const std::pair<std::string, std::string>*> sorted;
  std::size_t size = 0;
  for (const auto& label : labels) {
    sorted.push_back(&label);
    size += label.first.size() + label.second.size() + 2;
  }
  std::ranges::sort(sorted, {}, [](const auto* label) -> const std::string& { return label->first; });
  std::string key;
  key.reserve(size);
  for (const auto* label : sorted) key.append(label->first).append(1, '\0').append(label->second).append(1, '\0');
  return key;
}

}  // namespace

// One Prometheus family (of the three pointers one is set, the others are null) and its series by their labels.
struct MetricFamily::Impl {
  std::string name, help;
  prometheus::Counter& dropped;
  prometheus::Family<prometheus::Counter>* counters = nullptr;
  prometheus::Family<prometheus::Gauge>* gauges = nullptr;
  prometheus::Family<prometheus::Histogram>* histograms = nullptr;
  std::vector<double> buckets;
  std::mutex mutex;
  struct Series {
    LabelMap labels;
    std::variant<prometheus::Counter*, prometheus::Gauge*, prometheus::Histogram*> one;
    std::string text{};  // its lines; empty: they changed since the last scrape
  };
  using AllSeries = std::unordered_map<std::string, Series>;
  AllSeries series;  // by key_of()
  // In the order of the text. A key orders like its labels, because its separator comes before all other characters.
  std::map<std::string_view, AllSeries::value_type*> sorted;
  // From key_of() one label to the series that have it: remove() finds them without a scan of all series.
  std::unordered_map<std::string, std::unordered_set<AllSeries::value_type*>> having;
  // Further labels, by key_of() the labels of these names. No names: there are none.
  std::vector<std::string> amended_by;
  MetricLabels otherwise;
  std::unordered_map<std::string, MetricLabels> amended;

  Impl(std::string n, std::string h, prometheus::Counter& d) : name(std::move(n)), help(std::move(h)), dropped(d) {}

  // `change` returns whether the value is another one.
  // Applies `change` to the series with these labels; adds the series when it is new and the family is not full.
  // Holds the lock throughout, because remove() on another thread frees the series.
  template <typename T, typename Change, typename... Arguments>
  void with(prometheus::Family<T>& family, const MetricLabels& labels, Change change, const Arguments&... arguments) {
    std::string key = key_of(labels);
    const std::lock_guard lock(mutex);
    auto it = series.find(key);
    if (it == series.end()) {
      if (series.size() == kMaxSeries) return dropped.Increment();
      LabelMap map(labels.begin(), labels.end());
      T* const made = &family.Add(map, arguments...);
      it = series.emplace(std::move(key), Series{std::move(map), made}).first;
      sorted.emplace(it->first, &*it);
      for (const auto& label : labels) having[key_of({label})].insert(&*it);
    }
    if (change(*std::get<T*>(it->second.one))) it->second.text.clear();
  }

  // The series that have the rarest of these labels.
  std::vector<AllSeries::value_type*> candidates(const MetricLabels& part) const {
    const std::unordered_set<AllSeries::value_type*>* fewest = nullptr;
    for (const auto& label : part) {
      const auto it = having.find(key_of({label}));
      if (it == having.end()) return {};
      if (fewest == nullptr || it->second.size() < fewest->size()) fewest = &it->second;
    }
    if (fewest == nullptr) return {};
    return {fewest->begin(), fewest->end()};
  }

  LabelMap shown_labels(const LabelMap& labels) const {
    LabelMap all = labels;
    MetricLabels part;
    for (const std::string& key : amended_by) {
      const auto it = labels.find(key);
      part.emplace_back(key, it == labels.end() ? std::string() : it->second);
    }
    const auto further = amended.find(key_of(part));
    for (const auto& label : further == amended.end() ? otherwise : further->second) all.insert(label);
    return all;
  }

  void forget_text(const MetricLabels& part) {
    for (auto* entry : candidates(part)) {
      if (has_all(entry->second.labels, part)) entry->second.text.clear();
    }
  }

  void remove(AllSeries::value_type* entry) {
    for (const auto& label : entry->second.labels) {
      const auto it = having.find(key_of({label}));
      it->second.erase(entry);
      if (it->second.empty()) having.erase(it);
    }
    std::visit([&](auto* one) { take_away(one); }, entry->second.one);
    sorted.erase(entry->first);
    series.erase(series.find(entry->first));
  }

  void write(std::string& out) {
    const std::lock_guard lock(mutex);
    if (sorted.empty()) return;
    MetricFamilyText text(out, name, help, counters != nullptr ? "counter" : gauges != nullptr ? "gauge" : "histogram");
    for (const auto& [key, entry] : sorted) {
      Series& one = entry->second;
      if (one.text.empty()) {
        text.write_to(one.text);
        if (amended_by.empty()) {
          std::visit([&](const auto* value) { add(text, one.labels, *value); }, one.one);
        } else {
          const LabelMap labels = shown_labels(one.labels);
          std::visit([&](const auto* value) { add(text, labels, *value); }, one.one);
        }
      }
      out += one.text;
    }
  }

  static void add(MetricFamilyText& text, const LabelMap& labels, const prometheus::Counter& one) {
    text.add(labels, one.Value());
  }
  static void add(MetricFamilyText& text, const LabelMap& labels, const prometheus::Gauge& one) {
    text.add(labels, one.Value());
  }
  static void add(MetricFamilyText& text, const LabelMap& labels, const prometheus::Histogram& one) {
    const auto data = one.Collect().histogram;
    std::vector<MetricFamilyText::Bucket> buckets;
    buckets.reserve(data.bucket.size());
    for (const auto& bucket : data.bucket) buckets.push_back({bucket.upper_bound, bucket.cumulative_count});
    text.add_histogram(labels, buckets, data.sample_sum, data.sample_count);
  }

  void take_away(prometheus::Counter* one) { counters->Remove(one); }
  void take_away(prometheus::Gauge* one) { gauges->Remove(one); }
  void take_away(prometheus::Histogram* one) { histograms->Remove(one); }
};

void MetricFamily::remove(const MetricLabels& part) {
  const std::lock_guard lock(impl_->mutex);
  for (auto* entry : impl_->candidates(part)) {
    if (has_all(entry->second.labels, part)) impl_->remove(entry);
  }
}

void MetricFamily::amend_by(std::vector<std::string> names, MetricLabels otherwise) {
  const std::lock_guard lock(impl_->mutex);
  BERTH_INVARIANT(!names.empty() && impl_->amended_by.empty());
  impl_->amended_by = std::move(names);
  impl_->otherwise = std::move(otherwise);
  for (auto& [key, one] : impl_->series) one.text.clear();
}

void MetricFamily::amend(const MetricLabels& part, MetricLabels further) {
  const std::lock_guard lock(impl_->mutex);
  impl_->amended.insert_or_assign(key_of(part), std::move(further));
  impl_->forget_text(part);
}

void MetricFamily::amend_no_more(const MetricLabels& part) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->amended.erase(key_of(part)) != 0) impl_->forget_text(part);
}

void CounterFamily::add(const MetricLabels& labels, double amount) {
  BERTH_INVARIANT(amount >= 0);
  impl_->with(*impl_->counters, labels, [&](prometheus::Counter& counter) {
    counter.Increment(amount);
    return true;
  });
}

void GaugeFamily::set(const MetricLabels& labels, double value) {
  impl_->with(*impl_->gauges, labels, [&](prometheus::Gauge& gauge) {
    const bool same = gauge.Value() == value;  // never of a NaN
    gauge.Set(value);
    return !same;
  });
}

void HistogramFamily::observe(const MetricLabels& labels, double value) {
  impl_->with(
      *impl_->histograms, labels,
      [&](prometheus::Histogram& histogram) {
        histogram.Observe(value);
        return true;
      },
      impl_->buckets);
}

struct Metrics::Impl {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& dropping =
      prometheus::BuildCounter().Name(kDropped).Help(kDroppedHelp).Register(registry);
  prometheus::Counter& dropped = dropping.Add({});
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<MetricFamily::Impl>> families;  // by name
  std::size_t last_bytes = 0;                                           // of the last text: the next one is alike

  std::shared_ptr<MetricFamily::Impl> declare(const std::string& name, const std::string& help) {
    auto family = std::make_shared<MetricFamily::Impl>(name, help, dropped);
    const std::lock_guard lock(mutex);
    const bool is_new = families.emplace(name, family).second;
    BERTH_INVARIANT(is_new && name != kDropped);
    return family;
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

CounterFamily Metrics::counter(const std::string& name, const std::string& help) {
  auto family = impl_->declare(name, help);
  family->counters = &prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return CounterFamily(std::move(family));
}

GaugeFamily Metrics::gauge(const std::string& name, const std::string& help) {
  auto family = impl_->declare(name, help);
  family->gauges = &prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return GaugeFamily(std::move(family));
}

HistogramFamily Metrics::histogram(const std::string& name, const std::string& help, std::vector<double> buckets) {
  auto family = impl_->declare(name, help);
  family->histograms = &prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  family->buckets = std::move(buckets);
  return HistogramFamily(std::move(family));
}

std::string Metrics::text() const {
  const std::lock_guard lock(impl_->mutex);
  std::string out;
  out.reserve(impl_->last_bytes + impl_->last_bytes / 8);
  bool reported_dropped = false;
  const auto report_dropped = [&] {
    MetricFamilyText(out, kDropped, kDroppedHelp, "counter").add({}, impl_->dropped.Value());
    reported_dropped = true;
  };
  for (const auto& [name, family] : impl_->families) {
    if (!reported_dropped && name > kDropped) report_dropped();
    family->write(out);
  }
  if (!reported_dropped) report_dropped();
  impl_->last_bytes = out.size();
  return out;
}

}  // namespace berth
