#include "engine/topology/holders.h"

#include <algorithm>
#include <chrono>

namespace berth::engine::topology {

HolderId Holders::intern(std::string_view name) {
  if (auto it = ids_.find(std::string(name)); it != ids_.end()) return it->second;
  HolderId id(holders_.size());
  if (free_.empty()) {
    holders_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  holders_[id.index()].name = name;
  ids_.emplace(name, id);
  return id;
}

void Holders::release_if_idle(HolderId id) {
  Holder& holder = holders_[id.index()];
  if (!is_workload(id) || !holder.parts.empty() || holder.pods > 0) return;
  ids_.erase(holder.name);
  set_labels(id, nullptr);
  holder = Holder();
  free_.push_back(id);
}

void Holders::note_leaving(HolderId id) {
  if (!id.valid() || !is_workload(id)) return;
  Holder& holder = holders_[id.index()];
  if (holder.parts.empty() && holder.pods > 0) {
    leaving_.insert(id);
  } else {
    leaving_.erase(id);
    holder.awaited_since.reset();
  }
}

void Holders::note_gone_by(HolderId id, const api::kueue::PodPlacement& pod) {
  Time& gone_by = holders_[id.index()].gone_by;
  if (pod.gone_by) gone_by = std::max(gone_by, *pod.gone_by);
}

// Pods get their grace period; after that a kubelet needs a few seconds. After five more minutes the node or its
// controller does not respond, and nothing says when it will.
Time Holders::wait_ends(HolderId leaving, Time now, bool only_looks) {
  constexpr std::chrono::minutes kLongestWait{5};
  Holder& holder = holders_[leaving.index()];
  if (!holder.awaited_since && !only_looks) holder.awaited_since = now;
  return std::max(holder.awaited_since.value_or(now), holder.gone_by) + kLongestWait;
}

void Holders::set_labels(HolderId id, Places::Labels labels) {
  const std::string_view name = at(id).name;
  const std::string ns(name.substr(0, name.find('/')));
  if (labels) {
    labelled_[ns].insert(id);
  } else if (const auto of_ns = labelled_.find(ns); of_ns != labelled_.end()) {
    of_ns->second.erase(id);
    if (of_ns->second.empty()) labelled_.erase(of_ns);
  }
  at(id).labels = std::move(labels);
}

const std::set<HolderId>& Holders::labelled(std::string_view ns) const {
  static const std::set<HolderId> kNone;
  const auto of_ns = labelled_.find(ns);
  return of_ns == labelled_.end() ? kNone : of_ns->second;
}

HolderId Holders::of(WorkloadId workload) const {
  return workload.index() < of_workload_.size() ? of_workload_[workload.index()] : HolderId();
}

void Holders::set_of(WorkloadId workload, HolderId holder) {
  if (of_workload_.size() <= workload.index()) of_workload_.resize(workload.index() + 1);
  of_workload_[workload.index()] = holder;
}

void Holders::note_stray(LeafDomainId leaf, HolderId holder) {
  bool claims = false, pods = false;
  for (const Row& row : usage_.rows(leaf)) {
    if (row.holder != holder) continue;
    claims = claims || row.claimed > 0;
    pods = pods || row.pods > 0;
  }
  std::set<LeafDomainId>& strays = holders_[holder.index()].strays;
  if (pods && !claims) {
    strays.insert(leaf);
  } else if (!strays.empty()) {
    strays.erase(leaf);
  }
}

}  // namespace berth::engine::topology
