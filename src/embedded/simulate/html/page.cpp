#include "embedded/simulate/html/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "embedded/simulate/history.h"
#include "embedded/simulate/html/charts.h"
#include "embedded/simulate/html/style.h"
#include "embedded/simulate/html/text.h"
#include "embedded/simulate/report.h"

namespace berth::simulate {
namespace {

using namespace html;

std::string plural(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string beside(const std::string& chart, const std::string& rest) {
  return "<div class=\"pair\"><figure>" + chart + "</figure><div>" + rest + "</div></div>\n";
}

std::string percent(double part) { return fmt::format("{:.0f}%", 100 * part); }

class Page {
 public:
  Page(const Scenario& scenario, const Played& played)
      : scenario_(scenario),
        played_(played),
        length_(std::max(played.end - played.start, Duration(1))),
        periods_(played.start, played.start + length_, kChartPeriods),
        stays_(stays(played.history, played.end)) {
    for (const auto& life : played.lives) queue_of_.push_back(life.ns + "/" + life.queue);
  }

  std::string text() {
    std::string out = head();
    out += utilisation();
    out += shares();
    out += waiting();
    out += strips();
    return out + "</main></body></html>\n";
  }

 private:
  std::string head() const {
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>" +
        escaped(scenario_.name) + "</title><style>" + std::string(kStyle) + "</style></head><body><main>\n";
    out += "<h1>" + name(scenario_.name) + "</h1>\n<p>" + escaped(scenario_.about, 4'000) + "</p>\n";
    std::size_t finished = 0, evictions = 0;
    for (const auto& life : played_.lives) {
      finished += life.finished ? 1 : 0;
      evictions += life.evictions.size();
    }
    out += "<p class=\"soft\">" + plural(played_.lives.size(), "workload") + " in " + span(length_) +
           " of virtual time; " + std::to_string(finished) + " finished, " + plural(evictions, "eviction") +
           ". Times are since the beginning of the story.</p>\n";
    if (!played_.history.complete)
      out += "<p class=\"bad\">The story was too long to be recorded whole: the charts end before it does.</p>\n";
    if (played_.failures.empty()) return out;
    out += "<div class=\"bad\"><h2>Not as expected</h2><ul>";
    constexpr std::size_t kMostFailures = 100;
    for (std::size_t i = 0; i < std::min(kMostFailures, played_.failures.size()); ++i)
      out += "<li>" + escaped(played_.failures[i], 1'000) + "</li>";
    if (played_.failures.size() > kMostFailures)
      out += "<li>and " + std::to_string(played_.failures.size() - kMostFailures) + " more</li>";
    return out + "</ul></div>\n";
  }

  std::vector<double> empty() const { return std::vector<double>(kChartPeriods); }

  // The averages of kTablePeriods longer periods.
  static std::vector<double> longer(const std::vector<double>& values) {
    constexpr std::size_t kEach = kChartPeriods / kTablePeriods;
    std::vector<double> out(kTablePeriods);
    for (std::size_t i = 0; i < values.size(); ++i) out[i / kEach] += values[i] / kEach;
    return out;
  }
  std::string table_period(std::size_t i) const {
    return span(length_ * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(kTablePeriods));
  }

  static std::string left_out(std::size_t all, std::size_t shown, const std::string& what) {
    if (all <= shown) return "";
    return "<p class=\"soft\">Shown are " + std::to_string(shown) + " of " + plural(all, what) + ".</p>\n";
  }

  std::string utilisation() {
    std::map<FlavorResource, std::vector<double>> used, nominal;
    for (const auto& stay : stays_) {
      for (const auto& [what, amount] : stay.change->usage) {
        const auto it = used.try_emplace(what, empty()).first;
        periods_.add(it->second, stay.from, stay.to, static_cast<double>(amount.count()) / unit_of(what.second).scale);
      }
    }
    const auto& changes = played_.history.nominal;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Time to = i + 1 < changes.size() ? changes[i + 1].when : played_.end;
      for (const auto& [what, amount] : changes[i].total) {
        if (amount.is_unlimited()) continue;
        const auto it = nominal.try_emplace(what, empty()).first;
        periods_.add(it->second, changes[i].when, to, static_cast<double>(amount.count()) / unit_of(what.second).scale);
      }
    }
    std::string out =
        "<section><h2>Utilisation</h2>\n<p>The quota that workloads hold, for each flavor and resource.</p>\n";
    std::size_t shown = 0;
    for (const auto& u : played_.utilisation) {
      if (shown == kMostCharts) break;
      const FlavorResource what{u.flavor, u.resource};
      out += utilisation_of(u, used.contains(what) ? used[what] : empty(),
                            nominal.contains(what) ? nominal[what] : std::vector<double>(), shown++);
    }
    if (shown == 0) out += "<p>No ClusterQueue has quota.</p>\n";
    return out + left_out(played_.utilisation.size(), shown, "pair of flavor and resource") + "</section>\n";
  }

  std::string utilisation_of(const Utilisation& u, const std::vector<double>& used, const std::vector<double>& nominal,
                             std::size_t number) const {
    const Unit unit = unit_of(u.resource);
    const double peak = static_cast<double>(u.peak.count()) / unit.scale;
    const double mean = u.used_seconds / unit.scale / in_seconds(length_);
    std::string reported = "On average " + html::number(mean) + " " + unit.unit + ", at most " + html::number(peak);
    if (!nominal.empty()) reported += ", of a nominal quota of " + format_amount(u.resource, u.nominal) + " at the end";
    AreaChart chart{{"use" + std::to_string(number), u.flavor + ": " + u.resource, reported + "."}, length_, {}};
    chart.layers.push_back({"reserved", used});
    chart.limit = nominal;
    chart.limit_name = "nominal quota";
    chart.unit = unit.unit;
    TableText table{"Average of each period", {"From", unit.unit, "of nominal"}, {}};
    const auto used_by_row = longer(used), nominal_by_row = longer(nominal);
    for (std::size_t i = 0; i < kTablePeriods; ++i)
      table.rows.push_back({table_period(i), html::number(used_by_row[i]),
                            nominal_by_row[i] > 0 ? percent(used_by_row[i] / nominal_by_row[i]) : "-"});
    return "<h3>" + name(u.flavor) + ": " + name(u.resource) + "</h3><p>" + escaped(reported) + ".</p>\n" +
           beside(area_chart(chart), html::table(table));
  }

  std::string shares() {
    std::map<std::pair<std::string, std::string>, std::vector<QueueShare>> by_chart;
    for (auto& share : queue_shares(played_.history, played_.end, queue_of_))
      by_chart[{share.cluster_queue, share.resource}].push_back(std::move(share));
    std::string out =
        "<section><h2>Shares</h2>\n<p>What the workloads of each LocalQueue hold of what its ClusterQueue gives.</p>\n";
    std::size_t shown = 0;
    for (auto& [key, list] : by_chart) {
      if (shown == kMostCharts) break;
      out += shares_of(key.first, key.second, std::move(list), shown++);
    }
    if (shown == 0) out += "<p>No workload got quota.</p>\n";
    return out + left_out(by_chart.size(), shown, "pair of ClusterQueue and resource") + "</section>\n";
  }

  std::string shares_of(const std::string& cluster_queue, const std::string& resource, std::vector<QueueShare> list,
                        std::size_t number) const {
    std::ranges::stable_sort(list, std::ranges::greater(), &QueueShare::used_seconds);
    const bool rest = list.size() > kMostLayers;
    const std::size_t alone = rest ? kMostLayers : list.size();
    const Unit unit = unit_of(resource);
    AreaChart chart{{"share" + std::to_string(number), cluster_queue + ": " + resource, ""}, length_, {}};
    std::map<std::string, std::size_t> layer_of;
    for (std::size_t i = 0; i < alone; ++i) {
      layer_of[list[i].local_queue] = i;
      chart.layers.push_back({list[i].local_queue, empty()});
    }
    if (rest) chart.layers.push_back({plural(list.size() - alone, "other LocalQueue"), empty()});
    chart.last_is_rest = rest;
    chart.unit = unit.unit;
    for (const auto& stay : stays_) {
      if (stay.change->cluster_queue != cluster_queue || stay.workload >= queue_of_.size()) continue;
      for (const auto& [what, amount] : stay.change->usage) {
        if (what.second != resource) continue;
        const auto layer = layer_of.find(queue_of_[stay.workload]);
        periods_.add(chart.layers[layer == layer_of.end() ? alone : layer->second].values, stay.from, stay.to,
                     static_cast<double>(amount.count()) / unit.scale);
      }
    }
    TableText whole{"The whole time", {"LocalQueue", unit.unit + " hours", "share"}, {}};
    double others = 0, others_share = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double hours = list[i].used_seconds / unit.scale / 3600;
      if (i < alone) {
        whole.rows.push_back({list[i].local_queue, html::number(hours), percent(list[i].share)});
        chart.text.description += list[i].local_queue + " " + percent(list[i].share) + ". ";
      } else {
        others += hours;
        others_share += list[i].share;
      }
    }
    if (rest) whole.rows.push_back({chart.layers.back().name, html::number(others), percent(others_share)});
    return "<h3>" + name(cluster_queue) + ": " + name(resource) + "</h3>\n" +
           beside(area_chart(chart), html::table(whole)) + shares_by_period(chart);
  }

  std::string shares_by_period(const AreaChart& chart) const {
    TableText table{"Share of what was used in each period", {"From"}, {}};
    std::vector<std::vector<double>> columns;
    for (const auto& layer : chart.layers) {
      table.header.push_back(layer.name);
      columns.push_back(longer(layer.values));
    }
    for (std::size_t i = 0; i < kTablePeriods; ++i) {
      double sum = 0;
      for (const auto& column : columns) sum += column[i];
      std::vector<std::string> row{table_period(i)};
      for (const auto& column : columns) row.push_back(sum > 0 ? percent(column[i] / sum) : "-");
      table.rows.push_back(std::move(row));
    }
    return html::table(table);
  }

  struct Waits {
    std::vector<Duration> started;
    std::size_t not_started = 0;
  };

  std::string waiting() const {
    constexpr std::array<std::pair<std::int64_t, std::string_view>, 9> kSteps{{{1, "up to 1 s"},
                                                                               {10, "up to 10 s"},
                                                                               {60, "up to 1 min"},
                                                                               {600, "up to 10 min"},
                                                                               {3'600, "up to 1 h"},
                                                                               {21'600, "up to 6 h"},
                                                                               {86'400, "up to 1 day"},
                                                                               {604'800, "up to 1 week"},
                                                                               {INT64_MAX, "longer"}}};
    std::map<std::string, Waits> by_queue;
    std::array<std::size_t, kSteps.size()> counts{};
    std::size_t started = 0, not_started = 0;
    for (std::size_t i = 0; i < played_.lives.size(); ++i) {
      const auto& life = played_.lives[i];
      Waits& waits = by_queue[queue_of_[i]];
      if (!life.admitted) {
        ++waits.not_started;
        ++not_started;
        continue;
      }
      ++started;
      waits.started.push_back(*life.admitted - life.submitted);
      std::size_t step = 0;
      while (step + 1 < kSteps.size() && waits.started.back() > std::chrono::seconds(kSteps[step].first)) ++step;
      ++counts[step];
    }
    const std::string reported = plural(started, "workload") + " started, " + std::to_string(not_started) +
                                 " never did. A waiting time ends with the first admission.";
    std::string out = "<section><h2>Waiting times</h2>\n<p>" + reported + "</p>\n";
    if (started > 0) {
      std::vector<Bar> bars;
      TableText table{"Waiting times", {"Waited", "workloads"}, {}};
      for (std::size_t i = 0; i < kSteps.size(); ++i) {
        bars.push_back({std::string(kSteps[i].second), static_cast<double>(counts[i]), std::to_string(counts[i])});
        table.rows.push_back({std::string(kSteps[i].second), std::to_string(counts[i])});
      }
      out += beside(bar_chart({"waits", "Waiting times of all workloads", reported}, bars), html::table(table));
    }
    return out + waiting_by_queue(by_queue) + "</section>\n";
  }

  // The queues with the most workloads, if there are too many.
  static std::string waiting_by_queue(const std::map<std::string, Waits>& by_queue) {
    std::vector<std::pair<std::string, Waits>> queues(by_queue.begin(), by_queue.end());
    std::ranges::stable_sort(queues, std::ranges::greater(),
                             [](const auto& q) { return q.second.started.size() + q.second.not_started; });
    const std::size_t shown = std::min(kMostQueues, queues.size());
    std::vector<Bar> bars;
    TableText table{"For each LocalQueue", {"LocalQueue", "started", "median", "90%", "longest", "not started"}, {}};
    for (std::size_t i = 0; i < shown; ++i) {
      auto& [queue, waits] = queues[i];
      std::ranges::sort(waits.started);
      const auto quantile = [&](std::size_t percents) {
        const std::size_t n = waits.started.size();
        return n == 0 ? Duration() : waits.started[std::min(n - 1, n * percents / 100)];
      };
      const auto words = [&](std::size_t percents) { return waits.started.empty() ? "-" : span(quantile(percents)); };
      table.rows.push_back({queue, std::to_string(waits.started.size()), words(50), words(90), words(100),
                            std::to_string(waits.not_started)});
      bars.push_back({queue, in_seconds(quantile(50)), words(50)});
    }
    if (shown == 0) return {};
    return "<h3>By LocalQueue</h3>\n" +
           beside(
               bar_chart({"queue-waits", "Median waiting time of each LocalQueue", "The table beside has the values."},
                         bars),
               html::table(table)) +
           left_out(queues.size(), shown, "LocalQueue");
  }

  static std::string_view state_name(Phase phase) {
    switch (phase) {
      case Phase::kWaiting:
        return "waiting";
      case Phase::kReserved:
        return "reserved";
      case Phase::kAdmitted:
        return "admitted";
      case Phase::kStopping:
        return "stopping";
      case Phase::kInactive:
      case Phase::kGone:
        break;
    }
    return "inactive";
  }

  std::string strips() const {
    const std::size_t shown = std::min(kMostStrips, played_.lives.size());
    std::string out = "<section><h2>Workloads</h2>\n";
    if (shown == 0) return out + "<p>There was none.</p></section>\n";
    std::vector<StripRow> rows(shown);
    TableText table{"Workloads, in the order of submission",
                    {"Workload", "LocalQueue", "priority", "submitted", "waited", "evicted", "finished", "state"},
                    {},
                    false};
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& life = played_.lives[i];
      rows[i].label = life.ns + "/" + life.name;
      for (const auto& eviction : life.evictions) rows[i].marks.push_back(eviction.when - played_.start);
      const auto when = [&](Time t) { return span(t - played_.start); };
      table.rows.push_back({rows[i].label, life.queue, std::to_string(life.priority), when(life.submitted),
                            span(life.waited_until(played_.end)), std::to_string(life.evictions.size()),
                            life.finished ? when(*life.finished) : "-", state_of(life)});
    }
    for (const auto& stay : stays_) {
      if (stay.workload >= shown) break;
      auto& parts = rows[stay.workload].parts;
      const Duration from = stay.from - played_.start, to = stay.to - played_.start;
      if (!parts.empty() && parts.back().to == from && parts.back().state == state_name(stay.phase)) {
        parts.back().to = to;
      } else if (from != to) {
        parts.push_back({std::string(state_name(stay.phase)), from, to});
      }
    }
    out += left_out(played_.lives.size(), shown, "workload");
    out +=
        "<figure>" +
        strip_chart({"strips", "What each workload did over time", "The table below has the values."}, length_, rows) +
        "</figure>\n" + html::table(table);
    return out + "</section>\n";
  }

  const Scenario& scenario_;
  const Played& played_;
  Duration length_;
  Periods periods_;
  std::vector<Stay> stays_;
  std::vector<std::string> queue_of_;  // by workload
};

}  // namespace

std::string to_html(const Scenario& scenario, const Played& played) { return Page(scenario, played).text(); }

}  // namespace berth::simulate
