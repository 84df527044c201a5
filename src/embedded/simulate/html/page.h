// The report of a played scenario as one HTML page: no script, nothing from another host, charts as SVG with a table
// beside each. The same story gives the same bytes.
#pragma once

#include <string>

#include "embedded/simulate/play.h"

namespace berth::simulate {

// What a page shows at most. More than that is grouped or left out, and a sentence says so.
inline constexpr std::size_t kMostCharts = 24;     // of utilisation, and of shares
inline constexpr std::size_t kMostQueues = 40;     // rows of waiting times
inline constexpr std::size_t kMostLayers = 8;      // LocalQueues of one chart; the others are one layer
inline constexpr std::size_t kMostStrips = 300;    // workloads, in the order of submission
inline constexpr std::size_t kChartPeriods = 120;  // steps of a chart
inline constexpr std::size_t kTablePeriods = 12;   // rows of the table beside it

std::string to_html(const Scenario& scenario, const Played& played);

}  // namespace berth::simulate
