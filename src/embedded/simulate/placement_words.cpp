#include "embedded/simulate/placement_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "embedded/simulate/rack_picture.h"

namespace berth::simulate {
namespace {

constexpr std::size_t kMostNames = 6;

using Counts = std::map<std::string, std::int64_t, NaturalOrder>;  // lowest domain -> pods

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) out += fmt::format(" and {} more", names.size() - kMostNames);
  return out;
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Counts places_of(const api::kueue::Workload& workload) {
  Counts counts;
  if (!workload.status.admission) return counts;
  for (const auto& pod_set : workload.status.admission->pod_set_assignments) {
    if (!pod_set.topology_assignment) continue;
    for (const auto& domain : pod_set.topology_assignment->domains) {
      if (!domain.values.empty()) counts[domain.values.back()] += domain.count;
    }
  }
  return counts;
}

}  // namespace

std::string describe_places(const api::kueue::Workload& workload, const RackOf& rack_of) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>, NaturalOrder> racks;  // pods, nodes
  for (const auto& [domain, pods] : places_of(workload)) {
    const std::string rack = rack_of(domain);
    auto& counts = racks[rack.empty() ? domain : rack];
    counts.first += pods;
    counts.second += rack.empty() ? 0 : 1;
  }
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>>>
      alike;  // in the order of their first domain
  for (const auto& [rack, counts] : racks) {
    auto group = std::find_if(alike.begin(), alike.end(), [&](const auto& g) { return g.first == counts; });
    if (group == alike.end()) group = alike.insert(alike.end(), {counts, {}});
    group->second.push_back(rack);
  }
  std::string out;
  for (const auto& [counts, names] : alike) {
    const auto& [pods, nodes] = counts;
    out += fmt::format("{}{} ({}{}{})", out.empty() ? "" : ", ", joined(names), counted(pods, "pod"),
                       nodes == 0 ? "" : " on " + counted(nodes, "node"), names.size() > 1 ? " each" : "");
  }
  return out;
}

std::string describe_move(const api::kueue::Workload& before, const api::kueue::Workload& now) {
  Counts difference = places_of(now);
  if (difference.empty()) return {};
  for (const auto& [domain, pods] : places_of(before)) difference[domain] -= pods;
  std::vector<std::string> left, taken;
  std::int64_t moved = 0;
  for (const auto& [domain, pods] : difference) {
    if (pods < 0) left.push_back(domain);
    if (pods > 0) taken.push_back(domain);
    if (pods < 0) moved -= pods;
  }
  if (left.empty() || taken.empty()) return {};
  return counted(moved, "pod") + " from " + joined(left) + " to " + joined(taken);
}

}  // namespace berth::simulate
