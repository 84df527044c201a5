// New places for the pods of failed nodes; all other pods keep theirs (KEP-2724). Unlike Kueue, it replaces any
// number of nodes at once.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/topology/replacement.h"

namespace berth::engine {

using topology::DomainId;
using topology::Share;
using topology::View;
using topology::Wanted;

namespace {

// Layers of slices, from the coarsest to the finest; slices of one pod are no layer.
std::vector<SliceLayer> layers_of(const Wanted& wanted) {
  std::vector<SliceLayer> layers;
  if (wanted.slice_size > 1) layers.push_back({wanted.slice_level, wanted.slice_size});
  for (std::size_t level = wanted.slice_level + 1; level < wanted.inner.size(); ++level) {
    const bool lowest = level + 1 == wanted.inner.size() || wanted.inner[level + 1] != wanted.inner[level];
    if (lowest && wanted.inner[level] > 1) layers.push_back({level, wanted.inner[level]});
  }
  return layers;
}

// The request for pods that complete a slice in one domain of `level`: they must stay in it, and follow the slices
// `below`.
Wanted completing(const Wanted& wanted, std::size_t level, const SliceLayer* below) {
  Wanted part;
  part.level = level;
  part.required = true;
  part.inner.assign(wanted.inner.size(), 1);
  part.slice_level = below ? below->level : wanted.inner.size() - 1;
  part.slice_size = below ? below->size : 1;
  for (std::size_t i = part.slice_level + 1; below && i < part.inner.size(); ++i) part.inner[i] = wanted.inner[i];
  return part;
}

}  // namespace

bool Places::Impl::Replacement::fail(std::string text) {
  out_.failure = {job_.workers, std::move(text), 0, 0, false};
  return false;
}

DomainId Places::Impl::Replacement::leaf_of(const std::string& host) const {
  const LeafDomainId leaf_domain = impl_.ledger.leaves.find_host(host);
  if (!leaf_domain.valid()) return DomainId();
  for (const topology::TreePosition& position : impl_.ledger.leaves[leaf_domain].positions) {
    if (position.flavor == view_->flavor()) return position.leaf;
  }
  return DomainId();
}

// Separates the places that stay from the pods that are missing.
bool Places::Impl::Replacement::read(const api::kueue::TopologyAssignment& assignment,
                                     std::span<const std::string> failed, Held& stays, std::int32_t& missing) {
  for (const api::kueue::TopologyDomain& domain : assignment.domains) {
    if (domain.values.empty() || domain.count <= 0) continue;
    const std::string& host = domain.values.back();
    const DomainId leaf = leaf_of(host);
    if (std::find(failed.begin(), failed.end(), host) != failed.end()) {
      missing += domain.count;
      if (leaf.valid()) lost_.push_back(leaf);
    } else if (leaf.valid()) {
      stays[leaf] += domain.count;
    } else {
      return fail(
          fmt::format("failed nodes cannot be replaced: the assignment also has node \"{}\", which does not "
                      "exist any more",
                      host));
    }
  }
  return true;
}

// The last place that is still known; invalid: none is.
DomainId Places::Impl::Replacement::last_of(const api::kueue::TopologyAssignment& assignment) const {
  for (std::size_t i = assignment.domains.size(); i-- > 0;) {
    const api::kueue::TopologyDomain& domain = assignment.domains[i];
    if (domain.values.empty() || domain.count <= 0) continue;
    if (const DomainId leaf = leaf_of(domain.values.back()); leaf.valid()) return leaf;
  }
  return DomainId();
}

// The domain of the pods that stay, or of a failed node if none stay; invalid when neither is known.
DomainId Places::Impl::Replacement::home(std::size_t level) const {
  DomainId first;
  for (const Held* held : {&workers_, &leader_}) {
    for (const auto& [leaf, pods] : *held) {
      if (!first.valid() || view_->before(leaf, first)) first = leaf;
    }
  }
  if (!first.valid()) {
    for (DomainId leaf : lost_) {
      if (!first.valid() || view_->before(leaf, first)) first = leaf;
    }
  }
  return first.valid() ? view_->ancestor(first, level) : first;
}

bool Places::Impl::Replacement::in_one_domain(std::size_t level) const {
  const DomainId one = home(level);
  for (const Held* held : {&workers_, &leader_}) {
    for (const auto& [leaf, pods] : *held) {
      if (view_->ancestor(leaf, level) != one) return false;
    }
  }
  return one.valid();
}

bool Places::Impl::Replacement::run(std::span<const api::kueue::TopologyAssignmentPtr> current,
                                    std::span<const std::string> failed) {
  const PlaceRequest& ask = requests_[job_.workers];
  const auto& workers = current[job_.workers];
  const auto leader = job_.leader == kNone ? nullptr : current[job_.leader];
  view_ = impl_.ledger.views.find(ask.flavor);
  if (!view_) return fail(fmt::format("Flavor \"{}\" information missing in TAS cache", impl_.names.name(ask.flavor)));
  if (!view_->leaves_are_nodes()) return true;  // no place is a node
  if (workers && !read(*workers, failed, workers_, missing_)) return false;
  if (workers) last_ = last_of(*workers);
  if (leader && !read(*leader, failed, leader_, missing_leader_)) return false;
  if (missing_ == 0 && missing_leader_ == 0) return true;
  std::int32_t pods = missing_;
  for (const auto& [leaf, count] : workers_) pods += count;
  auto task = impl_.task_of(requests_, {job_.workers, kNone}, pods > 0 ? pods : ask.count, false);
  if (!task) return fail(task.error());
  task_ = std::move(*task);
  tail_ = task_.wanted.tail(pods);
  const bool workers_change = missing_ > 0, leader_changes = missing_leader_ > 0;
  if (!complete_slices() || !place_rest()) return false;
  if (workers_change) finish(workers_, job_.workers);
  if (leader_changes) finish(leader_, job_.leader);
  return true;
}

// The workers that stay, by domain of `level`.
std::vector<std::pair<DomainId, std::int32_t>> Places::Impl::Replacement::held_at(std::size_t level) const {
  std::map<DomainId, std::int32_t> sums;
  for (const auto& [leaf, pods] : workers_) sums[view_->ancestor(leaf, level)] += pods;
  std::vector<std::pair<DomainId, std::int32_t>> domains(sums.begin(), sums.end());
  std::sort(domains.begin(), domains.end(),
            [&](const auto& a, const auto& b) { return view_->before(a.first, b.first); });
  return domains;
}

// How many pods are missing in the slices of a domain that holds `pods`. The domain of the last place has the smaller
// slice; when all pods of that slice were lost, it may get another domain.
std::int32_t Places::Impl::Replacement::lost_in(DomainId domain, std::int32_t pods, const SliceLayer& layer) const {
  const bool is_last = last_.valid() && view_->ancestor(last_, layer.level) == domain;
  const std::int32_t torn = (pods - (is_last ? tail_ : 0)) % layer.size;
  return (layer.size - torn) % layer.size;
}

// A slice that lost some of its pods stays in its domain: the new pods go there. The finest slices come first, since
// they are parts of the coarser ones.
bool Places::Impl::Replacement::complete_slices() {
  const std::vector<SliceLayer> layers = layers_of(task_.wanted);
  for (std::size_t i = layers.size(); i-- > 0;) {
    Task part = task_;
    part.wanted = completing(task_.wanted, layers[i].level, i + 1 < layers.size() ? &layers[i + 1] : nullptr);
    for (const auto& [domain, pods] : held_at(layers[i].level)) {
      const std::int32_t lost = lost_in(domain, pods, layers[i]);
      if (lost == 0) continue;
      if (lost > missing_) {
        return fail(fmt::format("{}: a slice of {} pods lacks {} and only {} are missing", what_, layers[i].size, lost,
                                missing_));
      }
      if (!add(part, lost, domain)) return false;
    }
  }
  return true;
}

// Places the remaining whole slices, or single pods without slices, and the leader.
bool Places::Impl::Replacement::place_rest() {
  if (missing_ == 0 && missing_leader_ == 0) return true;
  Task task = task_;
  leader_alone_ = missing_ == 0;
  if (leader_alone_) {
    task.count.pod = requests_[job_.leader].pod;
    task.wanted = completing(task_.wanted, task_.wanted.level, nullptr);
    task.wanted.required = task_.wanted.required;
    task.wanted.unconstrained = task_.wanted.unconstrained;
  } else if (missing_leader_ > 0) {
    task.count.leader = &requests_[job_.leader].pod;
  }
  const std::int32_t pods = leader_alone_ ? 1 : missing_;
  if (const std::int32_t rest = pods % task.wanted.slice_size; rest != 0 && rest != tail_) {
    return fail(fmt::format("{}: the {} missing pods are no whole slices of {}", what_, pods, task.wanted.slice_size));
  }
  if (task.wanted.required) return add(task, pods, home(task.wanted.level));
  // they were in one domain: keep them together if possible
  if (!task.wanted.unconstrained && in_one_domain(task.wanted.level)) {
    Task together = task;
    together.wanted.required = true;
    if (add(together, pods, home(task.wanted.level))) return true;
    out_.failure = {};
  }
  return add(task, pods, DomainId());
}

bool Places::Impl::Replacement::add(const Task& task, std::int32_t pods, DomainId scope) {
  const topology::Shares shares = impl_.choose(task, pods, scope);
  if (shares.empty()) {
    const PlaceFailure failure = impl_.too_little_capacity(task, job_, pods, scope);
    return fail(impl_.describe(task, failure, scope));
  }
  std::vector<Place> places, leader;
  for (const Share& share : shares) {
    const LeafDomainId leaf_domain = (*view_)[share.domain].leaf_domain;
    if (share.pods > 0) {
      (leader_alone_ ? leader_ : workers_)[share.domain] += share.pods;
      places.push_back({leaf_domain, share.pods});
    }
    if (share.leader) {
      ++leader_[share.domain];
      leader.push_back({leaf_domain, 1});
    }
  }
  impl_.assume(requests_[leader_alone_ ? job_.leader : job_.workers], places);
  if (!leader.empty()) impl_.assume(requests_[job_.leader], leader);
  if (!leader_alone_) missing_ -= pods;
  return true;
}

void Places::Impl::Replacement::finish(const Held& held, std::size_t ask) {
  topology::Shares leaves;
  for (const auto& [leaf, pods] : held) leaves.push_back({leaf, pods, false, 0});
  std::sort(leaves.begin(), leaves.end(),
            [&](const Share& a, const Share& b) { return view_->before(a.domain, b.domain); });
  if (ask == job_.workers) topology::put_tail_last(*view_, task_.wanted, leaves);
  for (const Share& leaf : leaves) out_.pod_sets[ask].places.push_back({(*view_)[leaf.domain].leaf_domain, leaf.pods});
}

Placement Places::replace(std::span<const PlaceRequest> requests,
                          std::span<const api::kueue::TopologyAssignmentPtr> current,
                          std::span<const std::string> failed) {
  Impl& impl = *impl_;
  impl.ledger.tree_leaves.renew_worn_views();
  Placement placement = Impl::nothing_placed(requests);
  const auto jobs = impl.jobs_of(requests);
  if (!jobs) {
    placement.failure = jobs.error();
    return placement;
  }
  std::vector<LeafDomainId> banned;
  for (const std::string& host : failed) {
    const LeafDomainId leaf_domain = impl.ledger.leaves.find_host(host);
    if (!leaf_domain.valid() || impl.ledger.leaves[leaf_domain].banned) continue;
    impl.ledger.tree_leaves.ban(leaf_domain, true);
    banned.push_back(leaf_domain);
  }
  placement.ok = std::all_of(jobs->begin(), jobs->end(), [&](const Impl::Job& job) {
    return Impl::Replacement(impl, requests, job, placement).run(current, failed);
  });
  impl.ledger.claims.unreserve(topology::kAssumed);
  for (LeafDomainId leaf_domain : banned) impl.ledger.tree_leaves.ban(leaf_domain, false);
  if (!placement.ok) {
    for (Placed& each : placement.pod_sets) each.places.clear();
  }
  return placement;
}

}  // namespace berth::engine
