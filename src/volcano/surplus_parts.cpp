#include "volcano/surplus_parts.h"

#include <algorithm>
#include <numeric>

#include "api/volcano/names.h"
#include "volcano/group_workloads.h"

namespace berth::volcano {

using api::kueue::PodSetAssignment;
using api::kueue::Workload;

namespace {

// Smaller amounts are not divided: quota is counted in thousandths of a CPU, and in units of everything else.
Quantity::Nano unit_of(std::string_view resource) { return resource == "cpu" ? 1'000'000 : 1'000'000'000; }

// The amount of the first `of` pods among all: rounded down to units, so that parts add up to the whole.
Quantity share(std::string_view resource, const Quantity& whole, std::int64_t of, std::int64_t all) {
  if (of == all) return whole;
  const Quantity::Nano unit = unit_of(resource), units = whole.nano_value() / unit;
  // Both divided, so that the product of a large amount and many pods does not overflow.
  return Quantity::of_nano((units / all * of + units % all * of / all) * unit);
}

Workload share_of_pods(const Workload& whole, std::size_t index, std::int64_t before, std::int64_t pods,
                       std::int64_t all) {
  api::ResourceList resources;
  for (const auto& [resource, amount] : held_by(whole)) {
    if (resource == api::volcano::kPods) continue;
    const Quantity own = share(resource, amount, before + pods, all) - share(resource, amount, before, all);
    if (own.sign() > 0) resources.emplace(resource, own);
  }
  return numbered_part(whole, index, resources, pods);
}

bool any_evicted(const std::vector<SurplusPart>& parts) {
  return std::ranges::any_of(parts, [](const SurplusPart& part) { return part.evicted && part.pods > 0; });
}

}  // namespace

SurplusPart surplus_part(const Workload& workload) {
  SurplusPart part;
  for (const auto& pod_set : workload.pod_sets) part.pods += pod_set.count;
  part.evicted = api::is_true(workload.status.conditions, api::kueue::kEvicted);
  return part;
}

std::vector<std::int64_t> part_sizes(std::int64_t pods, const std::vector<SurplusPart>& before) {
  std::vector<std::int64_t> sizes;
  if (!any_evicted(before)) {
    for (std::int64_t size = 1; pods > 0; size *= 2) {
      sizes.push_back(std::min(size, pods));
      pods -= sizes.back();
    }
    return sizes;
  }
  for (const SurplusPart& part : before) sizes.push_back(part.pods);
  std::int64_t more = pods - std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  for (const bool evicted : {true, false}) {
    for (std::size_t i = sizes.size(); i-- > 0 && more < 0;) {
      if (before[i].evicted != evicted) continue;
      const std::int64_t gone = std::min(sizes[i], -more);
      sizes[i] -= gone;
      more += gone;
    }
  }
  if (more > 0) sizes.push_back(more);
  return sizes;
}

std::vector<std::optional<Workload>> surplus_parts(const std::optional<Workload>& whole,
                                                   const std::vector<SurplusPart>& before) {
  if (!whole) return {};
  const std::int64_t all = surplus_part(*whole).pods;
  if (all <= 0) return {whole};
  std::vector<std::optional<Workload>> out;
  std::int64_t so_far = 0;
  for (const std::int64_t size : part_sizes(all, before)) {
    if (size > 0) {
      out.emplace_back(share_of_pods(*whole, out.size(), so_far, size, all));
    } else {
      out.emplace_back();
    }
    so_far += size;
  }
  return out;
}

api::ResourceList held_by(const Workload& workload) {
  api::ResourceList out;
  if (!workload.status.admission) return out;
  for (const PodSetAssignment& each : workload.status.admission->pod_set_assignments) {
    for (const auto& [resource, amount] : each.resource_usage) {
      const auto [it, added] = out.emplace(resource, amount);
      if (!added) it->second = it->second + amount;
    }
  }
  return out;
}

}  // namespace berth::volcano
