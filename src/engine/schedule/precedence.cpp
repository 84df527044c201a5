#include "engine/schedule/precedence.h"

#include <algorithm>
#include <set>
#include <utility>

namespace berth::engine {

namespace {

void add(std::vector<WorkloadId>& to, WorkloadId workload) {
  if (std::ranges::find(to, workload) == to.end()) to.push_back(workload);
}

}  // namespace

void Precedence::note(QuotaNodeId root, WorkloadId preemptor, WorkloadId victim) {
  Tree& tree = trees_[root];
  add(tree.preemptors[victim], preemptor);
  add(tree.victims[preemptor], victim);
}

void Precedence::recall(QuotaNodeId root, WorkloadId workload, WorkloadId protected_victims) {
  add(trees_[root].victims[workload], protected_victims);
}

void Precedence::note_admitted(QuotaNodeId root, WorkloadId workload) {
  if (const auto tree = trees_.find(root); tree != trees_.end()) tree->second.victims.erase(workload);
}

std::span<const WorkloadId> Precedence::victims(QuotaNodeId root, WorkloadId workload) const {
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return {};
  const auto found = tree->second.victims.find(workload);
  return found == tree->second.victims.end() ? std::span<const WorkloadId>() : found->second;
}

std::vector<WorkloadId> Precedence::above(QuotaNodeId root, WorkloadId workload) const {
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return {};
  std::set<WorkloadId> found;
  std::vector<WorkloadId> open{workload};
  while (!open.empty()) {
    const auto known = tree->second.preemptors.find(open.back());
    open.pop_back();
    if (known == tree->second.preemptors.end()) continue;
    for (const WorkloadId each : known->second) {
      if (found.insert(each).second) open.push_back(each);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<WorkloadId> Precedence::protected_victims(QuotaNodeId root, WorkloadId workload) const {
  std::vector<WorkloadId> out = above(root, workload);
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return out;
  if (const auto own = tree->second.victims.find(workload); own != tree->second.victims.end()) {
    out.insert(out.end(), own->second.begin(), own->second.end());
    std::ranges::sort(out);
    const auto doubled = std::ranges::unique(out);
    out.erase(doubled.begin(), doubled.end());
  }
  return out;
}

std::vector<WorkloadId> Precedence::forget(QuotaNodeId root) {
  std::set<WorkloadId> out;
  if (const auto tree = trees_.extract(root); !tree.empty()) {
    for (const Workloads* known : {&tree.mapped().preemptors, &tree.mapped().victims}) {
      for (const auto& [workload, others] : *known) {
        out.insert(workload);
        out.insert(others.begin(), others.end());
      }
    }
  }
  return {out.begin(), out.end()};
}

std::vector<WorkloadId> Precedence::forget_all() {
  std::vector<WorkloadId> out;
  while (!trees_.empty()) {
    const std::vector<WorkloadId> each = forget(trees_.begin()->first);
    out.insert(out.end(), each.begin(), each.end());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace berth::engine
