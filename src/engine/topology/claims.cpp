#include "engine/topology/claims.h"

#include <utility>

namespace berth::engine::topology {

std::vector<ClaimPart> Claims::parts_of(WorkloadId workload, HolderId holder) {
  std::vector<ClaimPart> own, others;
  if (!holder.valid()) return own;
  for (ClaimPart& part : holders_.at(holder).parts) (part.owner == workload ? own : others).push_back(std::move(part));
  holders_.at(holder).parts = std::move(others);
  return own;
}

void Claims::drop(HolderId holder, const std::vector<ClaimPart>& parts) {
  for (const ClaimPart& part : parts) {
    change(holder, part, -1);
    requests_.release(part.request);
  }
  holders_.note_leaving(holder);
  if (holder.valid()) holders_.release_if_idle(holder);
}

void Claims::take(WorkloadId workload, std::string_view holder, std::span<const Placed> placed, Places::Labels labels) {
  const HolderId before = holders_.of(workload);
  const std::vector<ClaimPart> old = parts_of(workload, before);
  HolderId now;
  for (const Placed& each : placed) {
    ClaimPart part{workload, RequestId(), each.places, each.unit};
    std::erase_if(part.places, [](const Place& place) { return place.pods <= 0; });
    if (part.places.empty()) continue;
    if (!now.valid()) now = holders_.intern(holder);
    part.request = requests_.acquire(each.per_pod);
    change(now, part, 1);
    holders_.at(now).parts.push_back(std::move(part));
  }
  if (now.valid()) holders_.set_labels(now, std::move(labels));
  holders_.set_of(workload, now);
  holders_.note_leaving(now);
  drop(before, old);  // after the new parts, so that capacity in both is never released in between
}

void Claims::give_back(WorkloadId workload) {
  const HolderId holder = holders_.of(workload);
  if (!holder.valid()) return;
  holders_.set_of(workload, HolderId());
  drop(holder, parts_of(workload, holder));
}

void Claims::change(HolderId holder, const ClaimPart& part, std::int32_t sign) {
  for (const Place& place : part.places) {
    holders_.change(place.leaf_domain, holder, part.request, std::int64_t{sign} * place.pods, 0);
    if (sign < 0) leaves_.release_if_idle(place.leaf_domain);
  }
}

void Claims::reserve(HolderId holder, RequestId request, std::span<const Place> places) {
  const Views::Quiet quiet(views_);
  requests_.acquire_again(request);
  ClaimPart part{WorkloadId(), request, {places.begin(), places.end()}, {}};
  change(holder, part, 1);
  holders_.at(holder).parts.push_back(std::move(part));
}

void Claims::unreserve(HolderId holder) {
  const Views::Quiet quiet(views_);
  drop(holder, parts_of(WorkloadId(), holder));
}

}  // namespace berth::engine::topology
