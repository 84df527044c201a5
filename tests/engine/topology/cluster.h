// A topology for tests: short helpers for nodes, topologies, flavors and pods; asks and placements as text.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/topology/places.h"

namespace berth::engine {

using Amounts = std::vector<std::pair<std::string, std::string>>;  // resource -> quantity

inline api::ResourceList resource_list(const Amounts& amounts) {
  api::ResourceList list;
  for (const auto& [resource, quantity] : amounts) list[resource] = Quantity::parse(quantity).value();
  return list;
}

// A pod set to place, and everything that its PlaceAsk points to.
struct Gang {
  std::string flavor = "f";
  std::int32_t count = 1;
  Amounts requests = {{"cpu", "1"}};
  std::string group{};
  std::optional<api::kueue::TopologyRequest> topology{};
  api::NodeConstraints constraints{};
  std::optional<api::kueue::TopologySpreading> spreading{};

  // The pods prefer nodes with this label.
  Gang& likes(std::string key, std::string value, std::int32_t weight = 1) {
    constraints.preferred_terms.push_back({weight, {{{std::move(key), "In", {std::move(value)}}}, {}}});
    return *this;
  }
  // Among the workloads in "ns" with the label app=a.
  Gang& spread(std::string level, std::int32_t most_share, bool preferred = false) {
    if (!spreading) spreading.emplace(api::kueue::TopologySpreading{"ns", "app", {"a"}, {}});
    spreading->rules.push_back({std::move(level), most_share, preferred});
    return *this;
  }
  Gang& required(std::string level) {
    return request([&](auto& r) { r.required = std::move(level); });
  }
  Gang& preferred(std::string level) {
    return request([&](auto& r) { r.preferred = std::move(level); });
  }
  Gang& unconstrained() {
    return request([](auto& r) { r.unconstrained = true; });
  }
  Gang& slices(std::string level, std::int32_t size) {
    return request([&](auto& r) {
      r.slice_required_topology = std::move(level);
      r.slice_size = size;
    });
  }
  Gang& layers(std::vector<api::kueue::SliceLayer> layers) {
    return request([&](auto& r) { r.slice_constraints = std::move(layers); });
  }
  Gang& in(std::string name) {
    group = std::move(name);
    return *this;
  }
  template <typename Change>
  Gang& request(Change change) {
    if (!topology) topology.emplace();
    change(*topology);
    return *this;
  }
};

class Cluster {
 public:
  explicit Cluster(TopologyOptions options = {}) : places(names, options) {}

  std::vector<ResourceAmount> amounts(const Amounts& amounts) {
    std::vector<ResourceAmount> list;
    for (const auto& [resource, quantity] : amounts) {
      list.push_back({names.resource(resource), to_amount(resource, Quantity::parse(quantity).value())});
    }
    return list;
  }
  FlavorId id(std::string_view flavor) { return names.flavor(flavor); }

  void topology(const std::string& name, std::vector<std::string> levels) {
    api::kueue::Topology made;
    made.meta.name = name;
    made.levels = std::move(levels);
    places.set_topology(made);
  }
  void flavor(const std::string& name, const std::string& topology, api::StringMap labels = {},
              std::vector<api::Toleration> tolerations = {}) {
    api::kueue::ResourceFlavor made;
    made.meta.name = name;
    made.topology_name = topology;
    made.node_labels = std::move(labels);
    made.tolerations = std::move(tolerations);
    places.set_flavor(id(name), made);
  }
  static api::Node a_node(const std::string& name, api::StringMap labels, const Amounts& allocatable) {
    api::Node made;
    made.name = name;
    made.labels = std::move(labels);
    made.labels.emplace("kubernetes.io/hostname", name);
    made.ready = true;
    made.allocatable = resource_list(allocatable);
    made.allocatable.emplace("pods", Quantity::of(110));
    return made;
  }
  bool node(const std::string& name, api::StringMap labels, const Amounts& allocatable) {
    return places.set_node(a_node(name, std::move(labels), allocatable));
  }
  static api::kueue::PodPlacement a_pod(const std::string& name, const std::string& node, const Amounts& requests,
                                        const std::string& workload = "") {
    api::kueue::PodPlacement made;
    made.uid = "uid-" + name;
    made.ns = "ns";
    made.name = name;
    made.workload = workload;
    made.node = node;
    made.bound = true;
    made.requests = resource_list(requests);
    return made;
  }
  bool pod(const std::string& name, const std::string& node, const Amounts& requests,
           const std::string& workload = "") {
    return places.set_pod(a_pod(name, node, requests, workload));
  }

  // The asks point into `gangs` and into this object; they are valid until the next call.
  std::vector<PlaceRequest> requests(const std::vector<Gang>& gangs) {
    requests_.clear();
    std::vector<PlaceRequest> made;
    for (const Gang& gang : gangs) {
      requests_.push_back(amounts(gang.requests));
      made.push_back({id(gang.flavor),
                      gang.count,
                      {requests_.back(), &gang.constraints},
                      gang.topology ? &*gang.topology : nullptr,
                      gang.group,
                      gang.group.empty() ? "main" : std::string_view(gang.group),
                      gang.spreading ? &*gang.spreading : nullptr});
    }
    return made;
  }
  Placement place(const std::vector<Gang>& gangs, bool on_empty = false) {
    return places.place(requests(gangs), on_empty);
  }
  // The places as "r1-n1:2 r1-n2:1", pod sets separated by " | "; or the message why there are none.
  std::string where(const std::vector<Gang>& gangs) {
    const Placement placement = place(gangs);
    return placement.ok ? text(placement) : places.explain(requests(gangs), placement.failure);
  }
  std::string text(const Placement& placement) const {
    std::string out;
    for (const Placed& placed : placement.pod_sets) {
      if (&placed != &placement.pod_sets.front()) out += " | ";
      out += text(placed);
    }
    return out;
  }
  std::string text(const Placed& placed) const {
    const auto assignment = places.assignment(placed);
    std::string out;
    if (!assignment) return out;
    for (const auto& domain : assignment->domains) {
      if (!out.empty()) out += ' ';
      for (const std::string& value : domain.values) out += (&value == &domain.values.front() ? "" : "/") + value;
      out += ':' + std::to_string(domain.count);
    }
    return out;
  }
  // Places the gangs and claims the result for the workload "ns/w<number>".
  std::string admit(std::size_t workload, const std::vector<Gang>& gangs, api::StringMap labels = {}) {
    Placement placement = place(gangs);
    if (!placement.ok) return places.explain(requests(gangs), placement.failure);
    const std::string out = text(placement);
    places.take(WorkloadId(workload), "ns/w" + std::to_string(workload), std::move(placement.pod_sets),
                std::make_shared<const api::StringMap>(std::move(labels)));
    return out;
  }
  static api::kueue::TopologyAssignmentPtr assigned(const std::vector<std::pair<std::string, std::int32_t>>& hosts) {
    auto made = std::make_shared<api::kueue::TopologyAssignment>();
    made->levels = {"kubernetes.io/hostname"};
    for (const auto& [host, count] : hosts) made->domains.push_back({{host}, count});
    return made;
  }
  // Broken invariants, one per line.
  std::string broken() const {
    std::string out;
    for (const std::string& each : places.check()) out += each + '\n';
    return out;
  }

  Names names;
  Places places;

 private:
  std::deque<std::vector<ResourceAmount>> requests_;
};

// The usual setup: racks "r1".. of nodes "r1-n1".. with 4 cpu, flavor "f", topology "t" of rack and hostname.
inline void add_racks(Cluster& cluster, int racks, int nodes, const std::string& cpu = "4") {
  cluster.topology("t", {"rack", "kubernetes.io/hostname"});
  cluster.flavor("f", "t");
  for (int r = 1; r <= racks; ++r) {
    for (int n = 1; n <= nodes; ++n) {
      const std::string rack = "r" + std::to_string(r);
      cluster.node(rack + "-n" + std::to_string(n), {{"rack", rack}}, {{"cpu", cpu}, {"memory", "64Gi"}});
    }
  }
}

}  // namespace berth::engine
