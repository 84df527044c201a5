#include "jobs/placed_pods.h"

#include <algorithm>
#include <numeric>

#include "api/core/node_labels.h"
#include "api/kueue/names.h"
#include "api/kueue/pod_placement.h"
#include "api/kueue/slices.h"

namespace berth::jobs {

using api::kueue::TopologyAssignment;

namespace {

constexpr std::string_view kKueuePrefix = "kueue.x-k8s.io/";

// The members of the object at `path` that `wanted` accepts.
template <typename Wanted>
void keep_members(const Json& from, std::initializer_list<std::string_view> path, Wanted wanted, Json& to) {
  for (const auto& member : object_at(from, path)) {
    if (!wanted(std::string_view(member.key()))) continue;
    ensure_path(ensure_path(to, path), {std::string_view(member.key())}) = member.value();
  }
}

}  // namespace

std::string placed_by(const Json& pod) {
  const auto chain = string_at(pod, {"metadata", "annotations", api::kueue::kSliceName});
  if (!chain.empty()) return api::object_key(string_at(pod, {"metadata", "namespace"}), chain);
  const auto workload = string_at(pod, {"metadata", "annotations", api::kueue::kWorkloadAnnotation});
  if (workload.empty()) return {};
  // A place is in the node selector. Most pods have none, and nothing is kept of them.
  if (object_at(pod, {"spec", "nodeSelector"}).empty() && !api::kueue::wants_places(pod)) return {};
  return api::object_key(string_at(pod, {"metadata", "namespace"}), workload);
}

Json placed_pod(const Json& pod) {
  Json kept = JsonObject();
  const auto keep = [&](std::string_view parent, std::initializer_list<std::string_view> keys) {
    keep_members(pod, {parent}, [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); }, kept);
  };
  keep("metadata", {"name", "namespace", "uid", "resourceVersion", "deletionTimestamp", "labels"});
  keep_members(
      pod, {"metadata", "annotations"}, [](std::string_view key) { return key.starts_with(kKueuePrefix); }, kept);
  keep("spec", {"nodeName", "nodeSelector", "schedulingGates"});
  keep("status", {"phase"});
  // Only pods that are not bound are let go, or must fail.
  if (string_at(pod, {"spec", "nodeName"}).empty()) {
    keep("spec", {"tolerations"});
    keep("status", {"conditions"});
  }
  return kept;
}

namespace {

bool is_gated_by(const Json& pod, std::string_view name) {
  const auto& gates = array_at(pod, {"spec", "schedulingGates"});
  return std::ranges::any_of(gates, [&](const Json& gate) { return string_at(gate, {"name"}) == name; });
}

}  // namespace

bool has_topology_gate(const Json& pod) { return is_gated_by(pod, api::kueue::kTopologyGate); }

bool has_elastic_gate(const Json& pod) { return is_gated_by(pod, api::kueue::kElasticGate); }

bool pod_terminating(const Json& pod) { return !string_at(pod, {"metadata", "deletionTimestamp"}).empty(); }

Domains::Domains(const TopologyAssignment& assignment)
    : assignment_(assignment), by_values_(assignment.domains.size()) {
  std::iota(by_values_.begin(), by_values_.end(), std::size_t{0});
  std::stable_sort(by_values_.begin(), by_values_.end(), [&](std::size_t a, std::size_t b) {
    return assignment.domains[a].values < assignment.domains[b].values;
  });
  std::int64_t end = 0;
  for (const auto& domain : assignment.domains) ends_.push_back(end += domain.count);
}

std::optional<std::size_t> Domains::of_pod(const Json& pod) const {
  std::vector<std::string> values;
  for (const auto& level : assignment_.levels) {
    const auto value = string_at(pod, {"spec", "nodeSelector", level});
    if (value.empty()) return std::nullopt;
    values.emplace_back(value);
  }
  const auto it = std::lower_bound(by_values_.begin(), by_values_.end(), values,
                                   [&](std::size_t domain, const auto& v) { return at(domain).values < v; });
  if (it == by_values_.end() || at(*it).values != values) return std::nullopt;
  return *it;
}

std::size_t Domains::of_rank(std::int64_t rank) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), rank) - ends_.begin());
}

std::string_view Domains::hostname(std::size_t domain) const {
  if (assignment_.levels.empty() || assignment_.levels.back() != api::kHostnameLabel) return {};
  return at(domain).values.back();
}

}  // namespace berth::jobs
