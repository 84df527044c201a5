#include "embedded/simulate/html/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "embedded/simulate/html/text.h"

namespace berth::simulate::html {
namespace {

constexpr double kWidth = 760, kLeft = 64, kRight = 748, kTop = 10;
constexpr double kAreaHeight = 200, kAreaBottom = 176;
constexpr double kRow = 18, kLabel = 220;  // of bars and strips

std::string at(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string begin_svg(const ChartText& text, double height) {
  return "<svg viewBox=\"0 0 " + at(kWidth) + " " + at(height) + "\" role=\"img\" aria-labelledby=\"" + text.id +
         "-t " + text.id + "-d\"><title id=\"" + text.id + "-t\">" + escaped(text.title) + "</title><desc id=\"" +
         text.id + "-d\">" + escaped(text.description, 2'000) + "</desc>\n";
}

std::string write(double x, double y, const std::string& anchor, std::string_view words) {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\"" +
         (anchor.empty() ? std::string() : " class=\"" + anchor + "\"") + ">" + escaped(words) + "</text>";
}

std::string line(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) + "\" y2=\"" + at(y2) + "\"/>";
}

// The distance of ticks in seconds: at most eight of them.
std::int64_t tick_of(Duration length) {
  constexpr std::array<std::int64_t, 21> kNice = {1,      2,      5,      10,     15,      30,      60,
                                                  120,    300,    600,    900,    1'800,   3'600,   7'200,
                                                  10'800, 21'600, 43'200, 86'400, 172'800, 259'200, 604'800};
  const double seconds = in_seconds(length);
  for (const auto tick : kNice) {
    if (seconds / static_cast<double>(tick) <= 8) return tick;
  }
  return static_cast<std::int64_t>(std::ceil(seconds / 8 / 604'800)) * 604'800;
}

std::string tick_text(std::int64_t seconds) {
  if (seconds == 0) return "0";
  std::string out;
  const auto part = [&](std::int64_t count, std::string_view unit) {
    if (count > 0) out += (out.empty() ? "" : " ") + std::to_string(count) + std::string(unit);
  };
  part(seconds / 86'400, "d");
  part(seconds / 3'600 % 24, "h");
  part(seconds / 60 % 60, "min");
  part(seconds % 60, "s");
  return out;
}

// The axis of time below a chart, with lines across it.
std::string time_axis(Duration length, double left, double top, double bottom) {
  std::string lines, words;
  const double seconds = std::max(in_seconds(length), 1e-6);
  const auto tick = tick_of(length);
  for (std::int64_t t = 0; static_cast<double>(t) <= seconds; t += tick) {
    const double x = left + (kRight - left) * static_cast<double>(t) / seconds;
    lines += line(x, top, x, bottom);
    words += write(x, bottom + 16, x > kRight - 20 ? "e" : "m", tick_text(t));
  }
  return "<g class=\"grid\">" + lines + "</g><g class=\"axis\">" + words + "</g>\n";
}

// A round number that is not below the value: 1, 2 or 5 times a power of ten.
double round_top(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 4.0, 5.0, 10.0}) {
    if (step * power >= value * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

struct Scale {
  double top, count;
  double x(std::size_t period) const { return kLeft + (kRight - kLeft) * static_cast<double>(period) / count; }
  double y(double value) const { return kAreaBottom - (kAreaBottom - kTop) * std::clamp(value / top, 0.0, 1.0); }
};

// Steps along the values, from left to right; `back`: from right to left.
std::string steps(const Scale& scale, const std::vector<double>& values, bool back) {
  std::string out;
  const std::size_t n = values.size();
  const auto point = [&](std::size_t period, double value) {
    out += (out.empty() ? "" : " ") + at(scale.x(period)) + "," + at(scale.y(value));
  };
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = back ? n - 1 - k : k;
    // Equal steps are one line.
    const bool begins = k == 0 || values[i] != values[back ? i + 1 : i - 1];
    const bool ends = k + 1 == n || values[i] != values[back ? i - 1 : i + 1];
    if (begins) point(back ? i + 1 : i, values[i]);
    if (ends) point(back ? i : i + 1, values[i]);
  }
  return out;
}

std::string legend(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "<ul class=\"legend\">";
  for (const auto& [colour, words] : entries)
    out += "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" class=\"" + colour +
           "\"/></svg>" + name(words) + "</li>";
  return out + "</ul>\n";
}

std::string cut_label(const std::string& label) {
  constexpr std::size_t kMost = 34;
  return label.size() <= kMost ? label : std::string(cut_text(label, kMost - 3)) + "...";
}

std::string label_of(const std::string& label, double y) {
  return "<g><title>" + escaped(label) + "</title>" + write(kLabel - 8, y, "e", cut_label(label)) + "</g>";
}

// The parts as cells of equal width, equal neighbours joined.
std::vector<StripPart> coarse(const std::vector<StripPart>& parts, Duration length) {
  std::vector<StripPart> out;
  std::size_t next = 0;
  for (std::size_t cell = 0; cell < kStripCells; ++cell) {
    const auto edge = [&](std::size_t i) {
      return length * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(kStripCells);
    };
    const Duration from = edge(cell), to = edge(cell + 1);
    while (next < parts.size() && parts[next].to <= from) ++next;
    if (next == parts.size()) break;
    if (parts[next].from >= to) continue;
    if (!out.empty() && out.back().state == parts[next].state && out.back().to == from) {
      out.back().to = to;
    } else {
      out.push_back({parts[next].state, from, to});
    }
  }
  return out;
}

}  // namespace

std::string area_chart(const AreaChart& chart) {
  std::size_t count = chart.limit.size();
  for (const auto& layer : chart.layers) count = std::max(count, layer.values.size());
  std::vector<double> below(count, 0.0);
  double highest = chart.least_top;
  for (const double value : chart.limit) highest = std::max(highest, value);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (const auto& layer : chart.layers) sum += i < layer.values.size() ? layer.values[i] : 0;
    highest = std::max(highest, sum);
  }
  const Scale scale{round_top(highest), static_cast<double>(std::max<std::size_t>(count, 1))};
  std::string out = begin_svg(chart.text, kAreaHeight) + time_axis(chart.length, kLeft, kTop, kAreaBottom);
  out += "<g class=\"axis\">" + write(kLeft - 6, kTop + 8, "e", number(scale.top)) +
         write(kLeft - 6, kAreaBottom, "e", "0") +
         (chart.unit.size() > 8 ? "" : write(kLeft - 6, kTop + 22, "e", chart.unit)) + "</g>\n";
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t k = 0; k < chart.layers.size(); ++k) {
    const bool rest = chart.last_is_rest && k + 1 == chart.layers.size();
    const std::string colour = rest ? "cx" : "c" + std::to_string(k % 8);
    std::vector<double> above = below;
    for (std::size_t i = 0; i < chart.layers[k].values.size(); ++i) above[i] += chart.layers[k].values[i];
    out += "<polygon class=\"" + colour + "\" points=\"" + steps(scale, above, false) + " " +
           steps(scale, below, true) + "\"><title>" + escaped(chart.layers[k].name) + "</title></polygon>\n";
    below = std::move(above);
    entries.emplace_back(colour, chart.layers[k].name);
  }
  if (!chart.limit.empty()) {
    out += "<polyline class=\"limit\" points=\"" + steps(scale, chart.limit, false) + "\"/>\n";
    entries.emplace_back("limit-key", chart.limit_name);
  }
  return out + "</svg>\n" + legend(entries);
}

std::string bar_chart(const ChartText& text, const std::vector<Bar>& bars) {
  constexpr double kEnd = 640;  // room for the values
  double most = 0;
  for (const auto& bar : bars) most = std::max(most, bar.value);
  std::string out = begin_svg(text, kTop + kRow * static_cast<double>(bars.size()) + 4);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = kTop + kRow * static_cast<double>(i);
    const double width = most > 0 ? (kEnd - kLabel) * bars[i].value / most : 0;
    out += label_of(bars[i].label, y + 12) + "<rect class=\"c0\" x=\"" + at(kLabel) + "\" y=\"" + at(y + 1) +
           "\" width=\"" + at(width) + "\" height=\"" + at(kRow - 4) + "\"/>" +
           write(kLabel + width + 6, y + 12, "", bars[i].value_text) + "\n";
  }
  return out + "</svg>\n";
}

std::string strip_chart(const ChartText& text, Duration length, const std::vector<StripRow>& rows) {
  const double seconds = std::max(in_seconds(length), 1e-6);
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  const auto x = [&](Duration when) {
    return kLabel + (kRight - kLabel) * std::clamp(in_seconds(when) / seconds, 0.0, 1.0);
  };
  std::string out = begin_svg(text, bottom + 24) + time_axis(length, kLabel, kTop, bottom);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kTop + kRow * static_cast<double>(i);
    out += label_of(rows[i].label, y + 13);
    const auto parts = rows[i].parts.size() > kStripCells ? coarse(rows[i].parts, length) : rows[i].parts;
    for (const auto& part : parts) {
      // The height tells the states apart without colours: a workload that waits is a thin line.
      const double height = part.state == "admitted" ? 12 : part.state == "reserved" ? 8 : 4;
      out += "<rect class=\"" + part.state + "\" x=\"" + at(x(part.from)) + "\" y=\"" + at(y + 9 - height / 2) +
             "\" width=\"" + at(std::max(x(part.to) - x(part.from), 0.4)) + "\" height=\"" + at(height) + "\"/>";
    }
    for (std::size_t k = 0; k < std::min(rows[i].marks.size(), kStripCells); ++k)
      out += "<path class=\"mark\" d=\"M" + at(x(rows[i].marks[k])) + " " + at(y + 2) + "v14\"/>";
    out += "\n";
  }
  return out + "</svg>\n" +
         legend({{"waiting", "waits"},
                 {"reserved", "has its quota, waits for checks"},
                 {"admitted", "admitted"},
                 {"stopping", "evicted, its pods end"},
                 {"inactive", "deactivated"},
                 {"mark-key", "is evicted"}});
}

}  // namespace berth::simulate::html
