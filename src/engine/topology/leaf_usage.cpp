#include "engine/topology/leaf_usage.h"

#include <algorithm>

namespace berth::engine::topology {

void LeafUsage::change_row(Spot& spot, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods) {
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

void LeafUsage::change(SpotId id, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods) {
  Spot& spot = leaves_.at(id);
  const Row* row = nullptr;
  std::size_t rows = 0;
  for (const Row& each : spot.rows) {
    if (each.holder != holder) continue;
    ++rows;
    if (each.request == request) row = &each;
  }
  changes_.clear();
  if (!is_workload(holder) ||
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
    views_.touch(spot, claimed < 0);
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
}

void LeafUsage::add(std::vector<Wide>& sums, const Changes& changes) {
  for (const auto& [column, amount] : changes) {
    if (sums.size() <= column) sums.resize(column + 1);
    sums[column] += amount;
  }
}

void LeafUsage::apply(SpotId id, HolderId holder, const Changes& changes, bool inside) {
  ++applied_;
  Spot& spot = leaves_.at(id);
  add(spot.used, changes);
  views_.touch(spot, std::any_of(changes.begin(), changes.end(), [](const auto& each) { return each.second < 0; }));
  if (spot.group.valid() || !leaves_.usable(spot)) return;
  for (const Seat& seat : spot.seats) {
    if (seat.group.valid()) apply_to_group(seat.group, holder, changes, inside);
  }
}

void LeafUsage::set_away(HolderId holder, bool away, std::span<const SpotId> where) {
  if (away_.size() <= holder.index()) away_.resize(holder.index() + 1);
  away_[holder.index()] = away ? 1 : 0;
  for (const SpotId id : where) {
    usage(leaves_[id], holder, usage_);
    changes_.clear();
    for (std::uint32_t column = 0; column < usage_.size(); ++column) {
      if (usage_[column] != 0) changes_.emplace_back(column, away ? -usage_[column] : usage_[column]);
    }
    if (!changes_.empty()) apply(id, holder, changes_, false);
  }
}

Wide LeafUsage::used_without_workloads(const Spot& spot, std::uint32_t column) const {
  Wide sum = 0;
  for (const Row& row : spot.rows) {
    if (row.holder != kNobody && row.holder != kAssumed) continue;
    for (const Cell& cell : requests_.cells(row.request)) {
      if (cell.column == column) sum += static_cast<Wide>(row.pods + row.claimed) * cell.amount;
    }
  }
  if (!spot.group.valid()) return sum;
  for (SpotId member : leaves_.group_of(spot).members) sum += used_without_workloads(leaves_[member], column);
  return sum;
}

bool LeafUsage::claims_fit(SpotId id, RequestId request) const {
  const Spot& spot = leaves_[id];
  if (!leaves_.usable(spot)) return true;
  std::vector<Wide> claimed(requests_.columns().size());
  for (const Row& row : spot.rows) {
    if (!is_workload(row.holder)) continue;
    for (const Cell& cell : requests_.cells(row.request)) {
      claimed[cell.column] += static_cast<Wide>(row.claimed) * cell.amount;
    }
  }
  const auto cells = requests_.cells(request);
  return std::all_of(cells.begin(), cells.end(),
                     [&](const Cell& cell) { return claimed[cell.column] <= leaves_.allocatable(spot, cell.column); });
}

std::vector<Wide> LeafUsage::used_afresh(SpotId id) const {
  const Spot& spot = leaves_[id];
  std::vector<Wide> sum(requests_.columns().size()), each;
  std::vector<HolderId> holders;
  for (const Row& row : spot.rows) holders.push_back(row.holder);
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  for (HolderId holder : holders) {
    if (away(holder)) continue;
    usage(spot, holder, each);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  if (!spot.group.valid()) return sum;
  for (SpotId member : leaves_.group_of(spot).members) {
    each = used_afresh(member);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  return sum;
}

void LeafUsage::grow_columns() {
  const std::size_t columns = requests_.columns().size();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[SpotId(i)].group.valid()) continue;
    Group& group = leaves_.group_of(leaves_[SpotId(i)]);
    group.sum.resize(columns);
    group.allocatable.resize(columns);
    for (Group::Inside& inside : group.inside) inside.used = inside_afresh(group, inside.holder);
  }
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    Spot& leaf = leaves_.at(SpotId(i));
    if (!leaf.rows.empty() || leaf.group.valid()) leaf.used = used_afresh(SpotId(i));
    for (const Seat& seat : leaf.seats) views_.at(seat.flavor).touch(seat.leaf);
  }
}

}  // namespace berth::engine::topology
