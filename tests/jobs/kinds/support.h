// Descriptions and jobs for the tests of kinds.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::jobs::kinds::support {

inline Json yaml(std::string_view text) { return parse_yaml(text)->front(); }

// The shipped description of a kind ("PyTorchJob").
inline JobKindPtr shipped(std::string_view kind) {
  for (const auto& one : shipped_job_kinds()) {
    if (one->kind == kind) return one;
  }
  return nullptr;
}

inline JsonPtr nothing(const api::GroupVersionResource&, std::string_view, std::string_view) { return nullptr; }

inline std::vector<std::string> names_and_counts(const std::vector<api::kueue::PodSet>& pod_sets) {
  std::vector<std::string> out;
  for (const auto& one : pod_sets) out.push_back(one.name + " " + std::to_string(one.count));
  return out;
}

// An admission that adds something of every kind.
inline std::vector<PodSetInfo> infos_for(const std::vector<api::kueue::PodSet>& pod_sets) {
  std::vector<PodSetInfo> infos;
  for (const auto& one : pod_sets) {
    PodSetInfo info;
    info.name = one.name;
    info.count = one.count;
    info.labels = {{"kueue.x-k8s.io/podset", one.name}, {"kueue.x-k8s.io/cluster-queue-name", "cq"}};
    info.annotations = {{"kueue.x-k8s.io/workload", "w"}};
    info.node_selector = {{"tier", "a"}};
    info.tolerations = {{"spot", "Exists", "", "", {}}};
    info.scheduling_gates = {"kueue.x-k8s.io/topology"};
    infos.push_back(std::move(info));
  }
  return infos;
}

inline DescribedJob job_of(std::string_view kind) { return {shipped(kind), nothing}; }

}  // namespace berth::jobs::kinds::support
