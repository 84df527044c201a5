// The ledger's entries: claims, pods, reservations and tentative changes.
#include "engine/topology/spots.h"

#include <algorithm>

namespace berth::engine::topology {

namespace {
bool workload(HolderId holder) { return holder > kAssumed; }
}  // namespace

Spots::Spots(const Spots& other, Names& names)
    : SpotRecords(other),
      names_(names),
      strings_(other.strings_),
      requests_(other.requests_, names),
      machines_(other.machines_, strings_, requests_, names) {
  for (const auto& view : other.views_)
    views_.push_back(view == nullptr ? nullptr : std::make_unique<View>(*view, strings_));
}

HolderId Spots::intern_holder(std::string_view name) {
  if (auto it = holder_ids_.find(std::string(name)); it != holder_ids_.end()) return it->second;
  HolderId id(holders_.size());
  if (free_holders_.empty()) {
    holders_.emplace_back();
  } else {
    id = free_holders_.back();
    free_holders_.pop_back();
  }
  holders_[id.index()].name = name;
  holder_ids_.emplace(name, id);
  return id;
}

void Spots::release_holder(HolderId id) {
  Holder& holder = holders_[id.index()];
  if (!workload(id) || !holder.parts.empty() || holder.pods > 0) return;
  holder_ids_.erase(holder.name);
  holder = Holder();
  free_holders_.push_back(id);
}

void Spots::note_leaver(HolderId id) {
  if (!id.valid() || !workload(id)) return;
  Holder& holder = holders_[id.index()];
  if (holder.parts.empty() && holder.pods > 0) {
    leavers_.insert(id);
  } else {
    leavers_.erase(id);
    holder.awaited_since.reset();
  }
}

void Spots::note_gone_by(HolderId holder, const api::kueue::PodPlacement& pod) {
  Time& gone_by = holders_[holder.index()].gone_by;
  if (pod.gone_by) gone_by = std::max(gone_by, *pod.gone_by);
}

// Pods get their grace period; after that a kubelet needs a few seconds. After five more minutes the node or its
// controller does not respond, and nothing says when it will.
Time Spots::patience(HolderId leaver, Time now, bool only_looks) {
  constexpr std::chrono::minutes kPatience{5};
  Holder& holder = holders_[leaver.index()];
  if (!holder.awaited_since && !only_looks) holder.awaited_since = now;
  return std::max(holder.awaited_since.value_or(now), holder.gone_by) + kPatience;
}

HolderId Spots::holder_of(WorkloadId workload) const {
  return workload.index() < holder_of_workload_.size() ? holder_of_workload_[workload.index()] : HolderId();
}

std::vector<Spots::Part> Spots::parts_of(WorkloadId workload, HolderId holder) {
  std::vector<Part> own, others;
  if (!holder.valid()) return own;
  for (Part& part : holders_[holder.index()].parts) (part.owner == workload ? own : others).push_back(std::move(part));
  holders_[holder.index()].parts = std::move(others);
  return own;
}

void Spots::drop_parts(HolderId holder, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    claim(holder, part, -1);
    requests_.release(part.request);
  }
  note_leaver(holder);
  if (holder.valid()) release_holder(holder);
}

void Spots::take(WorkloadId workload, std::string_view name, std::span<const Placed> placed) {
  if (holder_of_workload_.size() <= workload.index()) holder_of_workload_.resize(workload.index() + 1);
  const HolderId before = holder_of(workload);
  const std::vector<Part> old = parts_of(workload, before);
  HolderId now;
  for (const Placed& each : placed) {
    Part part{workload, RequestId(), each.places};
    std::erase_if(part.places, [](const Place& place) { return place.pods <= 0; });
    if (part.places.empty()) continue;
    if (!now.valid()) now = intern_holder(name);
    part.request = requests_.acquire(each.per_pod);
    claim(now, part, 1);
    holders_[now.index()].parts.push_back(std::move(part));
  }
  holder_of_workload_[workload.index()] = now;
  note_leaver(now);
  drop_parts(before, old);  // after the new parts, so that capacity in both is never released in between
}

void Spots::give_back(WorkloadId workload) {
  const HolderId holder = holder_of(workload);
  if (!holder.valid()) return;
  holder_of_workload_[workload.index()] = HolderId();
  drop_parts(holder, parts_of(workload, holder));
}

void Spots::claim(HolderId holder, const Part& part, std::int32_t sign) {
  for (const Place& place : part.places) {
    change(place.spot, holder, part.request, std::int64_t{sign} * place.pods, 0);
    if (sign < 0) release_if_idle(place.spot);
  }
}

void Spots::reserve(HolderId holder, RequestId request, std::span<const Place> places) {
  quiet_ = true;
  requests_.acquire_again(request);
  Part part{WorkloadId(), request, {places.begin(), places.end()}};
  claim(holder, part, 1);
  holders_[holder.index()].parts.push_back(std::move(part));
  quiet_ = false;
}

void Spots::unreserve(HolderId holder) {
  quiet_ = true;
  drop_parts(holder, parts_of(WorkloadId(), holder));
  quiet_ = false;
}

SpotId Spots::home(const Pod& pod) {
  if (pod.bound) {
    if (const MachineId machine = machines_.find(pod.node); machine.valid())
      return host(strings_[machines_[machine].host]);
  }
  return host(pod.node);
}

bool Spots::set_pod(const api::kueue::PodPlacement& pod) {
  if (!pod.holds_node()) return remove_pod(pod.uid);
  const std::uint64_t before = applied_;
  const RequestId request = requests_.acquire(pod.requests);
  const auto it = pod_ids_.find(pod.uid);
  if (it != pod_ids_.end()) {
    const Pod& old = pods_[it->second];
    note_gone_by(old.holder, pod);
    const std::string owner = pod.workload.empty() ? "" : api::object_key(pod.ns, pod.workload);
    if (old.request == request && old.node == pod.node && old.bound == pod.bound &&
        holders_[old.holder.index()].name == owner) {
      requests_.release(request);
      return false;
    }
    remove_pod(pod.uid);
  }
  std::uint32_t index = static_cast<std::uint32_t>(pods_.size());
  if (free_pods_.empty()) {
    pods_.emplace_back();
  } else {
    index = free_pods_.back();
    free_pods_.pop_back();
  }
  const HolderId holder = pod.workload.empty() ? kNobody : intern_holder(api::object_key(pod.ns, pod.workload));
  Pod made{pod.uid, holder, request, pod.node, pod.bound, SpotId()};
  made.spot = home(made);
  ++holders_[holder.index()].pods;
  note_gone_by(holder, pod);
  note_leaver(holder);
  change(made.spot, holder, request, 0, 1);
  pods_[index] = std::move(made);
  pod_ids_.emplace(pod.uid, index);
  return applied_ != before;
}

bool Spots::remove_pod(std::string_view uid) {
  const auto it = pod_ids_.find(std::string(uid));
  if (it == pod_ids_.end()) return false;
  const std::uint64_t before = applied_;
  const std::uint32_t index = it->second;
  pod_ids_.erase(it);
  const Pod pod = std::move(pods_[index]);
  pods_[index] = Pod();
  free_pods_.push_back(index);
  change(pod.spot, pod.holder, pod.request, 0, -1);
  release_if_idle(pod.spot);
  requests_.release(pod.request);
  --holders_[pod.holder.index()].pods;
  note_leaver(pod.holder);
  release_holder(pod.holder);
  return applied_ != before;
}

void Spots::remove_pods_of(WorkloadId workload) {
  const HolderId holder = holder_of(workload);
  if (!holder.valid()) return;
  std::vector<std::string> uids;
  for (const Pod& pod : pods_) {
    if (!pod.uid.empty() && pod.holder == holder) uids.push_back(pod.uid);
  }
  for (const std::string& uid : uids) remove_pod(uid);
}

// A node whose name differs from its hostname was added, removed or renamed: moves its pods to the spot of its
// hostname.
void Spots::rehome_pods(std::string_view node) {
  for (Pod& pod : pods_) {
    if (pod.uid.empty() || !pod.bound || pod.node != node) continue;
    const SpotId now = home(pod), before = pod.spot;
    if (now == before) continue;
    change(before, pod.holder, pod.request, 0, -1);
    change(now, pod.holder, pod.request, 0, 1);
    pod.spot = now;
    release_if_idle(before);
  }
}

void Spots::change_row(Spot& spot, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods) {
  const auto row = std::find_if(spot.rows.begin(), spot.rows.end(),
                                [&](const Row& each) { return each.holder == holder && each.request == request; });
  if (row == spot.rows.end()) {
    spot.rows.push_back({holder, request, claimed, pods});
    return;
  }
  row->claimed += claimed;
  row->pods += pods;
  if (row->claimed != 0 || row->pods != 0) return;
  *row = spot.rows.back();
  spot.rows.pop_back();
}

void Spots::change(SpotId id, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods) {
  Spot& spot = spots_[id.index()];
  const Row* row = nullptr;
  std::size_t rows = 0;
  for (const Row& each : spot.rows) {
    if (each.holder != holder) continue;
    ++rows;
    if (each.request == request) row = &each;
  }
  changes_.clear();
  if (!workload(holder) ||
      (!spot.group.valid() && rows == (row ? 1u : 0u))) {  // only one kind of pod: comparing counts is enough
    const std::int64_t had_claimed = row ? row->claimed : 0, had_pods = row ? row->pods : 0;
    const std::int64_t more = std::max(had_claimed + claimed, had_pods + pods) - std::max(had_claimed, had_pods);
    change_row(spot, holder, request, claimed, pods);
    if (more != 0) {
      for (const Cell& cell : requests_.cells(request))
        changes_.emplace_back(cell.column, static_cast<Wide>(more) * cell.amount);
      apply(id, holder, changes_, true);
    }
  } else if (spot.group.valid()) {
    std::vector<Wide> before;
    usage(spot, holder, before);
    change_row(spot, holder, request, claimed, pods);
    set_inside(id, holder, before);
    ++applied_;
    touch(spot, claimed < 0);
  } else {
    std::vector<Wide> before, after;
    usage(spot, holder, before);
    change_row(spot, holder, request, claimed, pods);
    usage(spot, holder, after);
    for (std::uint32_t column = 0; column < after.size(); ++column) {
      if (after[column] != before[column]) changes_.emplace_back(column, after[column] - before[column]);
    }
    if (!changes_.empty()) apply(id, holder, changes_, true);
  }
  if (workload(holder)) note_stray(id, holder);
}

void Spots::note_stray(SpotId id, HolderId holder) {
  const Spot& spot = spots_[id.index()];
  bool claims = false, pods = false;
  for (const Row& row : spot.rows) {
    if (row.holder != holder) continue;
    claims = claims || row.claimed > 0;
    pods = pods || row.pods > 0;
  }
  std::set<SpotId>& strays = holders_[holder.index()].strays;
  if (pods && !claims) {
    strays.insert(id);
  } else if (!strays.empty()) {
    strays.erase(id);
  }
}

void Spots::add(std::vector<Wide>& sums, const Changes& changes) {
  for (const auto& [column, amount] : changes) {
    if (sums.size() <= column) sums.resize(column + 1);
    sums[column] += amount;
  }
}

void Spots::apply(SpotId id, HolderId holder, const Changes& changes, bool inside) {
  ++applied_;
  Spot& spot = spots_[id.index()];
  add(spot.used, changes);
  touch(spot, std::any_of(changes.begin(), changes.end(), [](const auto& each) { return each.second < 0; }));
  if (spot.group.valid() || !usable(spot)) return;
  for (const Seat& seat : spot.seats) {
    if (seat.group.valid()) apply_to_group(seat.group, holder, changes, inside);
  }
}

// --- Tentative changes

void Spots::apply_usage(SpotId id, HolderId holder, std::int32_t sign) {
  usage(spots_[id.index()], holder, usage_);
  changes_.clear();
  for (std::uint32_t column = 0; column < usage_.size(); ++column) {
    if (usage_[column] != 0) changes_.emplace_back(column, sign * usage_[column]);
  }
  if (!changes_.empty()) apply(id, holder, changes_, false);
}

void Spots::suppose(HolderId id, bool away) {
  Holder& holder = holders_[id.index()];
  if (holder.away == away) return;
  supposed_.push_back({id, holder.away});
  std::vector<SpotId> where(holder.strays.begin(), holder.strays.end());
  for (const Part& part : holder.parts) {
    for (const Place& place : part.places) where.push_back(place.spot);
  }
  std::sort(where.begin(), where.end());
  where.erase(std::unique(where.begin(), where.end()), where.end());
  quiet_ = true;
  for (SpotId spot : where) apply_usage(spot, id, away ? -1 : 1);
  quiet_ = false;
  holder.away = away;
}

void Spots::undo(std::size_t mark) {
  while (supposed_.size() > mark) {
    const Supposed last = supposed_.back();
    suppose(last.holder, last.was_away);
    supposed_.resize(supposed_.size() - 2);  // remove the entry and the entry of its undoing
  }
}

Wide Spots::used_without_workloads(const Spot& spot, std::uint32_t column) const {
  Wide sum = 0;
  for (const Row& row : spot.rows) {
    if (row.holder != kNobody && row.holder != kAssumed) continue;
    for (const Cell& cell : requests_.cells(row.request)) {
      if (cell.column == column) sum += static_cast<Wide>(row.pods + row.claimed) * cell.amount;
    }
  }
  if (!spot.group.valid()) return sum;
  for (SpotId member : group_of(spot).members) sum += used_without_workloads(spots_[member.index()], column);
  return sum;
}

}  // namespace berth::engine::topology
