#include "engine/topology/leaf_usage.h"

#include <algorithm>

namespace berth::engine::topology {

void LeafUsage::change_row(LeafDomain& leaf, HolderId holder, RequestId request, std::int64_t claimed,
                           std::int64_t pods) {
  const auto row = std::find_if(leaf.rows.begin(), leaf.rows.end(),
                                [&](const Row& each) { return each.holder == holder && each.request == request; });
  if (row == leaf.rows.end()) {
    leaf.rows.push_back({holder, request, claimed, pods});
    return;
  }
  row->claimed += claimed;
  row->pods += pods;
  if (row->claimed != 0 || row->pods != 0) return;
  *row = leaf.rows.back();
  leaf.rows.pop_back();
}

void LeafUsage::change(LeafDomainId id, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods) {
  LeafDomain& leaf = leaves_.at(id);
  const Row* row = nullptr;
  std::size_t rows = 0;
  for (const Row& each : leaf.rows) {
    if (each.holder != holder) continue;
    ++rows;
    if (each.request == request) row = &each;
  }
  changes_.clear();
  if (!is_workload(holder) ||
      (!leaf.group.valid() && rows == (row ? 1u : 0u))) {  // only one kind of pod: comparing counts is enough
    const std::int64_t had_claimed = row ? row->claimed : 0, had_pods = row ? row->pods : 0;
    const std::int64_t more = std::max(had_claimed + claimed, had_pods + pods) - std::max(had_claimed, had_pods);
    change_row(leaf, holder, request, claimed, pods);
    if (more != 0) {
      for (const Cell& cell : requests_.cells(request))
        changes_.emplace_back(cell.column, static_cast<Wide>(more) * cell.amount);
      apply(id, holder, changes_, true);
    }
  } else if (leaf.group.valid()) {
    std::vector<Wide> before;
    usage(leaf, holder, before);
    change_row(leaf, holder, request, claimed, pods);
    set_inside(id, holder, before);
    ++applied_;
    views_.touch(leaf, claimed < 0);
  } else {
    std::vector<Wide> before, after;
    usage(leaf, holder, before);
    change_row(leaf, holder, request, claimed, pods);
    usage(leaf, holder, after);
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

void LeafUsage::apply(LeafDomainId id, HolderId holder, const Changes& changes, bool inside) {
  ++applied_;
  LeafDomain& leaf = leaves_.at(id);
  add(leaf.used, changes);
  views_.touch(leaf, std::any_of(changes.begin(), changes.end(), [](const auto& each) { return each.second < 0; }));
  if (leaf.group.valid() || !leaves_.usable(leaf)) return;
  for (const TreePosition& position : leaf.positions) {
    if (position.group.valid()) apply_to_group(position.group, holder, changes, inside);
  }
}

void LeafUsage::set_away(HolderId holder, bool away, std::span<const LeafDomainId> where) {
  if (away_.size() <= holder.index()) away_.resize(holder.index() + 1);
  away_[holder.index()] = away ? 1 : 0;
  for (const LeafDomainId id : where) {
    usage(leaves_[id], holder, usage_);
    changes_.clear();
    for (std::uint32_t column = 0; column < usage_.size(); ++column) {
      if (usage_[column] != 0) changes_.emplace_back(column, away ? -usage_[column] : usage_[column]);
    }
    if (!changes_.empty()) apply(id, holder, changes_, false);
  }
}

Wide LeafUsage::used_without_workloads(const LeafDomain& leaf, std::uint32_t column) const {
  Wide sum = 0;
  for (const Row& row : leaf.rows) {
    if (row.holder != kNobody && row.holder != kAssumed) continue;
    for (const Cell& cell : requests_.cells(row.request)) {
      if (cell.column == column) sum += static_cast<Wide>(row.pods + row.claimed) * cell.amount;
    }
  }
  if (!leaf.group.valid()) return sum;
  for (LeafDomainId member : leaves_.group_of(leaf).members) sum += used_without_workloads(leaves_[member], column);
  return sum;
}

bool LeafUsage::claims_fit(LeafDomainId id, RequestId request) const {
  const LeafDomain& leaf = leaves_[id];
  if (!leaves_.usable(leaf)) return true;
  std::vector<Wide> claimed(requests_.columns().size());
  for (const Row& row : leaf.rows) {
    if (!is_workload(row.holder)) continue;
    for (const Cell& cell : requests_.cells(row.request)) {
      claimed[cell.column] += static_cast<Wide>(row.claimed) * cell.amount;
    }
  }
  const auto cells = requests_.cells(request);
  return std::all_of(cells.begin(), cells.end(),
                     [&](const Cell& cell) { return claimed[cell.column] <= leaves_.allocatable(leaf, cell.column); });
}

std::vector<Wide> LeafUsage::used_afresh(LeafDomainId id) const {
  const LeafDomain& leaf = leaves_[id];
  std::vector<Wide> sum(requests_.columns().size()), each;
  std::vector<HolderId> holders;
  for (const Row& row : leaf.rows) holders.push_back(row.holder);
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  for (HolderId holder : holders) {
    if (away(holder)) continue;
    usage(leaf, holder, each);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  if (!leaf.group.valid()) return sum;
  for (LeafDomainId member : leaves_.group_of(leaf).members) {
    each = used_afresh(member);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  return sum;
}

void LeafUsage::grow_columns() {
  const std::size_t columns = requests_.columns().size();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[LeafDomainId(i)].group.valid()) continue;
    Group& group = leaves_.group_of(leaves_[LeafDomainId(i)]);
    group.sum.resize(columns);
    group.allocatable.resize(columns);
    for (std::uint32_t column = 0; column < columns; ++column) {
      if (requests_.columns().is_port(column)) group.sum[column] = static_cast<Wide>(group.members.size());
    }
    for (Group::Inside& inside : group.inside) inside.used = inside_afresh(group, inside.holder);
  }
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    LeafDomain& leaf = leaves_.at(LeafDomainId(i));
    if (!leaf.rows.empty() || leaf.group.valid()) leaf.used = used_afresh(LeafDomainId(i));
    for (const TreePosition& position : leaf.positions) views_.at(position.flavor).touch(position.leaf);
  }
}

}  // namespace berth::engine::topology
