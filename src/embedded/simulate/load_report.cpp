#include <fmt/format.h>

#include <string>
#include <vector>

#include "embedded/simulate/columns.h"
#include "embedded/simulate/load_play.h"

namespace berth::simulate {
namespace {

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

std::string text(Duration d) { return fmt::format("{:.2f}s", seconds(d)); }

std::uint64_t writes(const LoadReport& report) {
  std::uint64_t sum = 0;
  for (const auto& [what, count] : report.controller_requests) {
    if (!what.starts_with("get ")) sum += count;
  }
  return sum;
}

double per_workload(std::uint64_t count, const LoadReport& report) {
  return report.count == 0 ? 0 : static_cast<double>(count) / static_cast<double>(report.count);
}

double ratio(const LoadReport& report) {
  return report.quota_floor > Duration() ? seconds(report.makespan) / seconds(report.quota_floor) : 0;
}

}  // namespace

std::string to_table(const LoadReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"CLASS", "COUNT", "WAIT-AVG", "P50", "P95", "MAX", "RUNTIME", "HELD-AVG", "EVICTED"}};
  for (const auto& c : report.classes) {
    rows.push_back({c.class_name, std::to_string(c.count), text(c.wait_average), text(c.wait_median), text(c.wait_p95),
                    text(c.wait_longest), text(c.runtime_average), text(c.held_average), std::to_string(c.evictions)});
  }
  std::string out = columns(rows) + "\n";
  rows = {
      {"workloads", fmt::format("{}, finished {}; {} pods", report.count, report.finished, report.pods)},
      {"makespan", fmt::format("{} of {} time, {:.2f} times the quota floor", text(report.makespan),
                               report.virtual_time ? "virtual" : "real", ratio(report))},
      {"quota floor", fmt::format("{}; last submission at {}", text(report.quota_floor), text(report.last_submission))},
      {"utilisation", fmt::format("{:.1f}% of the nominal quota", 100 * report.utilisation)}};
  if (report.virtual_time) {
    rows.push_back({"controller", fmt::format("{:.2f} writes per workload", per_workload(writes(report), report))});
    rows.push_back({"API server",
                    fmt::format("{:.2f} writes per workload, of everybody", per_workload(report.api_writes, report))});
  }
  for (const auto& [what, count] : report.controller_requests)
    rows.push_back({"  " + what, fmt::format("{} ({:.2f} per workload)", count, per_workload(count, report))});
  out += columns(rows);
  if (!report.unfinished.empty()) out += "\nNot finished:\n";
  for (const auto& [why, count] : report.unfinished)
    out += fmt::format("  {}: {}\n", count, why.empty() ? "admitted, and still running" : why);
  return out;
}

Json to_json(const LoadReport& report) {
  JsonArray classes;
  for (const auto& c : report.classes) {
    classes.push_back(JsonObject{{"className", c.class_name},
                                 {"count", c.count},
                                 {"finished", c.finished},
                                 {"waitSeconds", JsonObject{{"average", seconds(c.wait_average)},
                                                            {"p50", seconds(c.wait_median)},
                                                            {"p95", seconds(c.wait_p95)},
                                                            {"max", seconds(c.wait_longest)}}},
                                 {"runtimeSeconds", seconds(c.runtime_average)},
                                 {"heldSeconds", seconds(c.held_average)},
                                 {"evictions", c.evictions}});
  }
  JsonObject requests;
  for (const auto& [what, count] : report.controller_requests) requests[what] = count;
  JsonArray unfinished;
  for (const auto& [why, count] : report.unfinished)
    unfinished.push_back(JsonObject{{"count", count}, {"waitingFor", why}});
  JsonObject out{{"count", report.count},
                 {"finished", report.finished},
                 {"pods", report.pods},
                 {"makespanSeconds", seconds(report.makespan)},
                 {"quotaFloorSeconds", seconds(report.quota_floor)},
                 {"makespanToFloor", ratio(report)},
                 {"lastSubmissionSeconds", seconds(report.last_submission)},
                 {"utilisation", report.utilisation}};
  if (report.virtual_time) {
    out["controllerWritesPerWorkload"] = per_workload(writes(report), report);
    out["controllerRequests"] = std::move(requests);
    out["apiWritesPerWorkload"] = per_workload(report.api_writes, report);
  }
  out["classes"] = std::move(classes);
  out["unfinished"] = std::move(unfinished);
  return out;
}

}  // namespace berth::simulate
