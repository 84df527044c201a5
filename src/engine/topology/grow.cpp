// Places for a job that grows while it runs (KEP-77): its pods keep theirs, and the others are placed with them.
#include <fmt/format.h>

#include <algorithm>

#include "api/core/node_labels.h"
#include "engine/topology/replacement.h"

namespace berth::engine {

using topology::DomainId;

// Where the pods of the ask run already.
bool Places::Impl::Replacement::read_kept(const PlaceRequest& ask, Held& stays) {
  if (ask.kept == nullptr) return true;
  const auto& levels = ask.kept->levels;
  for (const api::kueue::TopologyDomain& domain : ask.kept->domains) {
    if (domain.count <= 0 || domain.values.size() != levels.size() || levels.empty()) continue;
    const LeafDomainId id = levels.back() == api::kHostnameLabel
                                ? impl_.ledger.leaves.find_host(domain.values.back())
                                : impl_.ledger.leaves.group(impl_.names.name(ask.flavor), levels, domain.values);
    DomainId leaf;
    if (id.valid()) {
      for (const topology::TreePosition& position : impl_.ledger.leaves[id].positions) {
        if (position.flavor == view_->flavor()) leaf = position.leaf;
      }
    }
    if (!leaf.valid()) return fail(fmt::format("{}: \"{}\" does not exist any more", what_, domain.values.back()));
    stays[leaf] += domain.count;
    last_ = leaf;
  }
  give_up(stays, ask);
  return true;
}

// Fewer pods than it had places: those stay where its pods run, then the first ones.
void Places::Impl::Replacement::give_up(Held& stays, const PlaceRequest& ask) {
  std::int32_t left = ask.count;
  std::vector<DomainId> order;
  for (const auto& [leaf, pods] : stays) order.push_back(leaf);
  std::sort(order.begin(), order.end(), [&](DomainId a, DomainId b) { return view_->before(a, b); });
  const topology::HolderId holder = impl_.ledger.holders.of(ask.kept_by);
  Held kept;
  for (const bool only_running : {true, false}) {
    for (const DomainId leaf : order) {
      std::int64_t most = stays[leaf];
      if (only_running) {
        std::int64_t running = 0;
        for (const topology::Row& row : impl_.ledger.leaves[(*view_)[leaf].leaf_domain].rows)
          running += row.holder == holder ? row.pods : 0;
        most = std::min(most, running);
      }
      const auto more = static_cast<std::int32_t>(std::clamp<std::int64_t>(most - kept[leaf], 0, left));
      kept[leaf] += more;
      left -= more;
    }
  }
  std::erase_if(kept, [](const auto& each) { return each.second == 0; });
  stays = std::move(kept);
}

bool Places::Impl::Replacement::run_around(bool on_empty) {
  what_ = "the places of the pods that run do not allow more";
  const PlaceRequest& ask = requests_[job_.workers];
  view_ = impl_.ledger.views.find(ask.flavor);
  if (!view_) return fail(fmt::format("Flavor \"{}\" information missing in TAS cache", impl_.names.name(ask.flavor)));
  if (job_.leader != kNone && !read_kept(requests_[job_.leader], leader_)) return false;
  if (!read_kept(ask, workers_)) return false;
  missing_ = ask.count;
  for (const auto& [leaf, pods] : workers_) missing_ -= pods;
  missing_leader_ = job_.leader == kNone || !leader_.empty() ? 0 : 1;
  auto task = impl_.task_of(requests_, {job_.workers, kNone}, ask.count, on_empty);
  if (!task) return fail(task.error());
  task_ = std::move(*task);
  tail_ = task_.wanted.tail(ask.count);
  if (workers_.empty()) {
    if (leader_.empty()) return impl_.place_job(requests_, job_, on_empty, out_);
  } else if (!complete_slices()) {
    return false;
  }
  if (!place_rest()) return false;
  finish(workers_, job_.workers);
  if (job_.leader != kNone) finish(leader_, job_.leader);
  return true;
}

Placement Places::Impl::place_around(std::span<const PlaceRequest> requests, bool on_empty) {
  Placement placement = nothing_placed(requests);
  const auto jobs = jobs_of(requests);
  if (!jobs) {
    placement.failure = jobs.error();
    return placement;
  }
  placement.ok = std::all_of(jobs->begin(), jobs->end(), [&](const Job& job) {
    const bool keeps =
        requests[job.workers].kept != nullptr || (job.leader != kNone && requests[job.leader].kept != nullptr);
    if (keeps) return Replacement(*this, requests, job, placement).run_around(on_empty);
    if (!place_job(requests, job, on_empty, placement)) return false;
    assume(requests[job.workers], placement.pod_sets[job.workers].places);
    if (job.leader != kNone) assume(requests[job.leader], placement.pod_sets[job.leader].places);
    return true;
  });
  ledger.claims.unreserve(topology::kAssumed);
  if (!placement.ok) {
    for (Placed& each : placement.pod_sets) each.places.clear();
  }
  return placement;
}

}  // namespace berth::engine
