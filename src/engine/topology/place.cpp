// Places the pod sets of one workload one after another; each takes the previous ones into account.
#include <fmt/format.h>

#include <algorithm>

#include "engine/topology/balanced.h"
#include "engine/topology/places_impl.h"

namespace berth::engine {

using topology::Chooser;
using topology::Counts;
using topology::DomainId;
using topology::Share;

tl::expected<std::vector<Places::Impl::Job>, PlaceFailure> Places::Impl::jobs_of(
    std::span<const PlaceRequest> requests) const {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].count <= 0) continue;
    const auto partner =
        requests[i].group.empty() ? jobs.end() : std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) {
          return requests[job.workers].group == requests[i].group && requests[job.workers].flavor == requests[i].flavor;
        });
    if (partner == jobs.end()) {
      jobs.push_back({i, kNone});
      continue;
    }
    std::size_t leader = i;
    if (requests[i].count > requests[partner->workers].count) std::swap(leader, partner->workers);
    if (partner->leader != kNone || requests[leader].count != 1) {
      return tl::unexpected(PlaceFailure{
          i,
          fmt::format("pod set group \"{}\" must be a leader of one pod and one pod set of workers", requests[i].group),
          0, 0, false});
    }
    partner->leader = leader;
  }
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Job& a, const Job& b) {
    return names.name(requests[a.workers].flavor) < names.name(requests[b.workers].flavor);
  });
  return jobs;
}

tl::expected<Places::Impl::Task, std::string> Places::Impl::task_of(std::span<const PlaceRequest> requests,
                                                                    const Job& job, std::int32_t pods,
                                                                    bool on_empty) const {
  const PlaceRequest& ask = requests[job.workers];
  const std::string& flavor = names.name(ask.flavor);
  Task task;
  task.view = ledger.views.find(ask.flavor);
  if (!task.view) return tl::unexpected(fmt::format("Flavor \"{}\" information missing in TAS cache", flavor));
  auto wanted = topology::understand(*task.view, flavor, ask.request, pods, options);
  if (!wanted) return tl::unexpected(std::move(wanted.error()));
  task.wanted = std::move(*wanted);
  task.count = {ask.flavor, ask.pod, job.leader == kNone ? nullptr : &requests[job.leader].pod, nullptr, on_empty};
  return task;
}

topology::Shares Places::Impl::choose(const Task& task, std::int32_t pods, DomainId scope) {
  topology::CountAsk ask = task.count;
  ask.wanted = &task.wanted;
  Counts& counted = counts.get(ask);
  const bool leader = ask.leader != nullptr;
  const Counts::Exclusion exclusion(counted, forbidden(task.crowds));
  const topology::Preference preference(*task.view, counted, task.crowds);
  Chooser chooser(*task.view, counted, task.wanted, leader, task.wanted.least_free(options),
                  preference.any() ? &preference : nullptr);
  if (!preference.any() && options.balanced_placement && !task.wanted.required && !task.wanted.unconstrained &&
      !scope.valid()) {
    topology::Shares balanced = topology::place_balanced(*task.view, counted, task.wanted, leader, pods, chooser);
    if (!balanced.empty()) return balanced;
  }
  return chooser.place(pods, scope);
}

PlaceFailure Places::Impl::too_little_capacity(const Task& task, const Job& job, std::int32_t pods, DomainId scope) {
  topology::CountAsk ask = task.count;
  ask.wanted = &task.wanted;
  Chooser chooser(*task.view, counts.get(ask), task.wanted, ask.leader != nullptr, task.wanted.least_free(options));
  const std::int32_t wanted = task.wanted.slices(pods) + (task.wanted.tail(pods) > 0 ? 1 : 0);
  return {job.workers, "", std::min(chooser.fits(pods, scope), wanted), wanted, task.wanted.slice_size > 1};
}

void Places::Impl::assume(const PlaceRequest& ask, std::span<const Place> places) {
  const topology::RequestId request = ledger.requests.acquire(ask.pod.requests);
  ledger.claims.reserve(topology::kAssumed, request, places);
  ledger.requests.release(request);
}

bool Places::Impl::place_job(std::span<const PlaceRequest> requests, const Job& job, bool on_empty,
                             Placement& placement) {
  const std::int32_t pods = requests[job.workers].count;
  auto task = task_of(requests, job, pods, on_empty);
  if (!task) {
    placement.failure = {job.workers, task.error(), 0, 0, false};
    return false;
  }
  if (requests[job.workers].spreading != nullptr && !on_empty)
    task->crowds = crowds_of(*task->view, requests[job.workers]);
  topology::Shares shares = choose(*task, pods, DomainId());
  if (shares.empty()) {
    placement.failure = too_little_capacity(*task, job, pods, DomainId());
    if (!task->crowds.forbidden.empty()) placement.failure.text = describe(*task, requests[job.workers]);
    return false;
  }
  topology::put_tail_last(*task->view, task->wanted, shares);
  std::vector<Place>& workers = placement.pod_sets[job.workers].places;
  for (const Share& share : shares) {
    const LeafDomainId leaf_domain = (*task->view)[share.domain].leaf_domain;
    if (share.pods > 0) workers.push_back({leaf_domain, share.pods});
    if (share.leader) placement.pod_sets[job.leader].places.push_back({leaf_domain, 1});
  }
  return true;
}

Placement Places::Impl::nothing_placed(std::span<const PlaceRequest> requests) {
  Placement placement;
  for (const PlaceRequest& ask : requests) {
    placement.pod_sets.push_back(
        {ask.flavor, {ask.pod.requests.begin(), ask.pod.requests.end()}, {}, std::string(ask.unit)});
  }
  return placement;
}

Placement Places::place(std::span<const PlaceRequest> requests, bool on_empty) {
  Impl& impl = *impl_;
  impl.ledger.tree_leaves.renew_worn_views();
  for (const PlaceRequest& ask : requests) impl.know(ask.pod.requests);
  if (std::ranges::any_of(requests, [](const PlaceRequest& ask) { return ask.kept != nullptr; }))
    return impl.place_around(requests, on_empty);
  Placement placement = Impl::nothing_placed(requests);
  const auto jobs = impl.jobs_of(requests);
  if (!jobs) {
    placement.failure = jobs.error();
    return placement;
  }
  placement.ok = true;
  for (const Impl::Job& job : *jobs) {
    placement.ok = impl.place_job(requests, job, on_empty, placement);
    if (!placement.ok) break;
    if (&job == &jobs->back()) break;
    impl.assume(requests[job.workers], placement.pod_sets[job.workers].places);
    if (job.leader != Impl::kNone) impl.assume(requests[job.leader], placement.pod_sets[job.leader].places);
  }
  if (jobs->size() > 1) impl.ledger.claims.unreserve(topology::kAssumed);
  return placement;
}

}  // namespace berth::engine
