// Charts as SVG, for people who see them and for screen readers: each has a title and a description. Colours are
// classes of the page's style, so that they follow its light or dark scheme.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.h"

namespace berth::simulate::html {

struct ChartText {
  std::string id;                  // unique on the page: letters, digits and '-'
  std::string title, description;  // plain text
};

// A sum over time, one area per layer, as steps. Layer i has the colour class "c0" to "c7"; "cx": the last one if
// `last_is_rest`.
struct Layer {
  std::string name;
  std::vector<double> values;  // one for each of equal periods
};
struct AreaChart {
  ChartText text;
  Duration length{};                 // of the time axis
  std::vector<Layer> layers;         // from below
  std::vector<double> limit{};       // a line, such as the nominal quota; empty: none
  std::string limit_name{}, unit{};  // `unit`: beside the axis, if it is short
  double least_top = 0;              // the axis ends here or above
  bool last_is_rest = false;
};
std::string area_chart(const AreaChart& chart);

struct Bar {
  std::string label;
  double value = 0;        // not negative
  std::string value_text;  // written at its end
};
// Horizontal bars, each with its label and value.
std::string bar_chart(const ChartText& text, const std::vector<Bar>& bars);

// A row of a strip chart: what a workload did over time.
struct StripPart {
  std::string state;  // a colour class: "waiting", "reserved", "admitted", "stopping", "inactive"
  Duration from{}, to{};
};
struct StripRow {
  std::string label;
  std::vector<StripPart> parts;  // ordered by time
  std::vector<Duration> marks;   // evictions
};
// A row has at most kStripCells parts: where more would be too narrow, the state at the beginning of a cell is shown.
inline constexpr std::size_t kStripCells = 240;
std::string strip_chart(const ChartText& text, Duration length, const std::vector<StripRow>& rows);

}  // namespace berth::simulate::html
