// A scheduler test environment with a topology: racks of equal nodes, and queries for where pods were placed.
#pragma once

#include "world.h"

namespace berth::engine {

inline constexpr const char* kHost = "kubernetes.io/hostname";

inline api::kueue::TopologyRequest required(std::string level) {
  api::kueue::TopologyRequest request;
  request.required = std::move(level);
  return request;
}
inline api::kueue::TopologyRequest preferred(std::string level) {
  api::kueue::TopologyRequest request;
  request.preferred = std::move(level);
  return request;
}
inline api::kueue::TopologyRequest unconstrained() {
  api::kueue::TopologyRequest request;
  request.unconstrained = true;
  return request;
}

// The topology "t" has the levels rack and hostname; the flavor "f" has all nodes with the label pool=f. Node names:
// r1-n1, ...
class Hall : public World {
 public:
  Hall(int racks, int nodes, const std::string& cpu, SchedulerOptions options = {}) : World(options) {
    topology("t", {"rack", kHost});
    topology_flavor("f");
    for (int rack = 1; rack <= racks; ++rack) {
      for (int i = 1; i <= nodes; ++i) node(rack, i, cpu);
    }
  }

  void topology(const std::string& name, std::vector<std::string> levels) {
    api::kueue::Topology object;
    object.meta.name = name;
    object.levels = std::move(levels);
    scheduler.set_topology(object);
  }
  void topology_flavor(const std::string& name, const std::string& topology = "t") {
    api::kueue::ResourceFlavor object;
    object.meta.name = name;
    object.node_labels = {{"pool", name}};
    object.topology_name = topology;
    scheduler.set_flavor(object);
  }
  static std::string node_name(int rack, int i) { return "r" + std::to_string(rack) + "-n" + std::to_string(i); }
  // `resources`: number of resources that the node has: cpu, and example.com/r1, r2, ...
  void node(int rack, int i, const std::string& cpu, bool ready = true, const std::string& flavor = "f",
            int resources = 1) {
    api::Node node;
    node.name = node_name(rack, i);
    node.labels = {{"pool", flavor}, {"rack", "r" + std::to_string(rack)}, {kHost, node.name}};
    node.ready = ready;
    node.allocatable = {{"cpu", quantity(cpu)}, {"memory", quantity("64Gi")}, {"pods", quantity("110")}};
    for (int r = 1; r < resources; ++r) node.allocatable["example.com/r" + std::to_string(r)] = quantity("1");
    scheduler.set_node(node);
  }
  // A pod on `node` that belongs to `workload`, or to no placed workload.
  api::kueue::PodPlacement pod(const std::string& name, const std::string& node, const std::string& cpu,
                               const std::string& workload = "") {
    api::kueue::PodPlacement pod;
    pod.uid = pod.name = name;
    pod.ns = "ns";
    pod.workload = workload;
    if (!workload.empty()) pod.pod_set = "main";
    pod.node = node;
    pod.bound = true;
    pod.requests = {{"cpu", quantity(cpu)}};
    scheduler.set_pod(pod);
    return pod;
  }

  // The places that the last pass gave to a pod set: "r1-n1:2 r1-n2:1"; "" when none.
  std::string placed(const std::string& name, std::size_t pod_set = 0) const {
    const auto* assignment = assignment_of(name, pod_set);
    return assignment == nullptr ? "" : text(*assignment);
  }
  const api::kueue::TopologyAssignment* assignment_of(const std::string& name, std::size_t pod_set = 0) const {
    for (const Decision& each : last) {
      const auto* admit = std::get_if<Admit>(&each);
      if (admit != nullptr && names.at(admit->workload) == name) return admit->pod_sets.at(pod_set).places.get();
    }
    return nullptr;
  }
  using World::text;
  static std::string text(const api::kueue::TopologyAssignment& assignment) {
    std::string all;
    for (const auto& domain : assignment.domains) {
      all += (all.empty() ? "" : " ") + domain.values.back() + ":" + std::to_string(domain.count);
    }
    return all;
  }
  // The racks of these places, each once: "r1 r2".
  std::string racks(const std::string& name, std::size_t pod_set = 0) const {
    std::string all, last_rack;
    const auto* assignment = assignment_of(name, pod_set);
    if (assignment == nullptr) return "";
    for (const auto& domain : assignment->domains) {
      const std::string rack = domain.values.back().substr(0, domain.values.back().find('-'));
      if (rack != last_rack) all += (all.empty() ? "" : " ") + rack;
      last_rack = rack;
    }
    return all;
  }
  static std::int32_t pods(const api::kueue::TopologyAssignment& assignment) {
    std::int32_t sum = 0;
    for (const auto& domain : assignment.domains) sum += domain.count;
    return sum;
  }
};

}  // namespace berth::engine
