#include "engine/spread_keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "api/kueue/names.h"
#include "api/kueue/topology_spreading.h"
#include "base/json.h"
#include "engine/lifecycle/change.h"

namespace berth::engine {
namespace {

// What is wrong with the rules of one pod set in this topology; "" nothing.
std::string unknown_keys(const api::kueue::PodSet& pod_set, const api::kueue::Topology& topology) {
  if (!pod_set.template_) return {};
  const auto text = string_at(*pod_set.template_, {"metadata", "annotations", api::kueue::kTopologySpreading});
  const auto spreading = api::kueue::parse_topology_spreading(text);
  if (text.empty() || !spreading) return {};
  std::string out;
  for (const auto& rule : spreading->rules) {
    if (std::ranges::find(topology.levels, rule.topology_key) != topology.levels.end()) continue;
    out += "pod set " + pod_set.name + ": the rule for " + rule.topology_key + " has no effect, topology " +
           topology.meta.name + " has the levels " + fmt::format("{}; ", fmt::join(topology.levels, ", "));
  }
  return out;
}

}  // namespace

void report_unknown_spread_keys(api::kueue::WorkloadStatus& status, const api::kueue::WorkloadRef& workload,
                                const Registries& registries, Time now) {
  if (!status.admission) return;
  std::string message;
  for (const auto& assigned : status.admission->pod_set_assignments) {
    const auto pod_set = std::ranges::find(workload.pod_sets, assigned.name, &api::kueue::PodSet::name);
    const auto flavor = registries.flavors.find(registries.placed_flavor(assigned));
    if (flavor == registries.flavors.end() || pod_set == workload.pod_sets.end()) continue;
    const auto topology = registries.topologies.find(flavor->second->topology_name);
    if (topology != registries.topologies.end()) message += unknown_keys(*pod_set, *topology->second);
  }
  if (message.empty()) return lifecycle::reset(status, workload, api::kueue::kTopologySpreadKeyNotFound, now);
  message.resize(message.size() - 2);  // the last separator
  lifecycle::set(status, workload, api::kueue::kTopologySpreadKeyNotFound, true, api::kueue::kTopologySpreadKeyNotFound,
                 message, now);
}

}  // namespace berth::engine
