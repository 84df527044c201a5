// Workloads with a topology assignment and their pods, for the tests of jobs/ungate and jobs/stuck_pods.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "jobs/placed_pods.h"
#include "jobs/ungate.h"

namespace berth::jobs::ungate_support {

using namespace api::kueue;
using Tolerations = std::vector<api::Toleration>;

inline constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

inline api::Condition holds(std::string_view type) {
  api::Condition condition;
  condition.type = type;
  condition.status = true;
  return condition;
}

inline Workload workload(std::vector<TopologyDomain> domains,
                         std::vector<std::string> levels = {"kubernetes.io/hostname"}) {
  Workload w;
  w.meta.name = "w";
  w.meta.ns = "ns";
  PodSet pod_set;
  pod_set.topology_request.emplace();
  pod_set.topology_request->pod_index_label = kIndex;
  PodSetAssignment assignment;
  for (const auto& domain : domains) assignment.count += domain.count;
  pod_set.count = assignment.count;
  assignment.topology_assignment =
      std::make_shared<const TopologyAssignment>(TopologyAssignment{std::move(levels), std::move(domains)});
  w.pod_sets.push_back(pod_set);
  w.status.admission = Admission{"cq", {assignment}};
  w.status.conditions.push_back(holds(kAdmitted));
  return w;
}

inline Workload on_hosts(const std::vector<std::pair<std::string, std::int32_t>>& hosts) {
  std::vector<TopologyDomain> domains;
  for (const auto& [name, count] : hosts) domains.push_back({{name}, count});
  return workload(std::move(domains));
}

struct PodSpec {
  std::string name;
  int index = -1;         // -1: no index
  std::string host = {};  // the node it was ungated for; empty: gated
  std::string phase = "Pending";
  bool terminating = false;
  std::string pod_set = "main";
  std::string bound = {};
};

inline JsonPtr pod(const PodSpec& spec) {
  Json out = JsonObject();
  ensure_path(out, {"metadata", "name"}) = spec.name;
  ensure_path(out, {"metadata", "uid"}) = "uid-" + spec.name;
  ensure_path(out, {"metadata", "namespace"}) = "ns";
  ensure_path(out, {"metadata", "annotations", "kueue.x-k8s.io/workload"}) = "w";
  ensure_path(out, {"metadata", "labels", "kueue.x-k8s.io/podset"}) = spec.pod_set;
  if (spec.index >= 0) ensure_path(out, {"metadata", "labels", kIndex}) = std::to_string(spec.index);
  if (spec.terminating) ensure_path(out, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  if (spec.host.empty()) {
    ensure_path(out, {"spec", "schedulingGates"}) = JsonArray{JsonObject{{"name", "kueue.x-k8s.io/topology"}}};
  } else {
    ensure_path(out, {"spec", "nodeSelector", "kubernetes.io/hostname"}) = spec.host;
  }
  if (!spec.bound.empty()) ensure_path(out, {"spec", "nodeName"}) = spec.bound;
  ensure_path(out, {"status", "phase"}) = spec.phase;
  ensure_path(out, {"spec", "containers"}) = JsonArray{JsonObject{{"name", "c"}, {"image", "i"}}};
  return std::make_shared<const Json>(placed_pod(out));  // as the ungater keeps them
}

inline HostFacts all_up() {
  return {[](std::string_view) { return true; }, [](std::string_view, const auto&) { return true; }};
}

}  // namespace berth::jobs::ungate_support
