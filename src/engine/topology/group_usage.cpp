// How much is used of groups of nodes.
#include <algorithm>
#include <limits>

#include "engine/topology/leaf_usage.h"

namespace berth::engine::topology {

namespace {

// The sum of the claims of `holder` in these rows, by column.
void sum_claims(const RequestPool& requests, const std::vector<Row>& rows, HolderId holder, std::vector<Wide>& out) {
  out.assign(requests.columns().size(), 0);
  for (const Row& row : rows) {
    if (row.holder != holder) continue;
    for (const Cell& cell : requests.cells(row.request))
      out[cell.column] += static_cast<Wide>(row.claimed) * cell.amount;
  }
}

std::int64_t saturated(Wide amount) {
  return static_cast<std::int64_t>(std::min<Wide>(amount, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

void LeafUsage::join(LeafDomainId id, LeafDomainId group_id) {
  const LeafDomain& leaf = leaves_[id];
  LeafDomain& whole = leaves_.at(group_id);
  Group& group = leaves_.group_of(whole);
  const std::size_t columns = requests_.columns().size();
  group.sum.resize(columns);
  group.allocatable.resize(columns);
  whole.used.resize(columns);
  group.members.push_back(id);
  for (std::uint32_t column = 0; column < columns; ++column) {
    group.sum[column] += leaves_.allocatable(leaf, column);
    group.allocatable[column] = saturated(group.sum[column]);
    whole.used[column] += leaves_.used(leaf, column);
  }
  count_inside_anew(group_id);
}

void LeafUsage::leave(LeafDomainId id, LeafDomainId group_id) {
  const LeafDomain& leaf = leaves_[id];
  LeafDomain& whole = leaves_.at(group_id);
  Group& group = leaves_.group_of(whole);
  group.members.erase(std::find(group.members.begin(), group.members.end(), id));
  for (std::uint32_t column = 0; column < group.sum.size(); ++column) {
    group.sum[column] -= leaves_.allocatable(leaf, column);
    group.allocatable[column] = saturated(group.sum[column]);
    whole.used[column] -= leaves_.used(leaf, column);
  }
  count_inside_anew(group_id);
}

std::vector<Wide> LeafUsage::inside_afresh(const Group& group, HolderId holder) const {
  std::vector<Wide> sum(requests_.columns().size()), each;
  for (LeafDomainId member : group.members) {
    const LeafDomain& leaf = leaves_[member];
    if (std::none_of(leaf.rows.begin(), leaf.rows.end(), [&](const Row& row) { return row.holder == holder; }))
      continue;
    usage(leaf, holder, each);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  return sum;
}

// Call after the members or the rows of a group changed: recomputes what the holder uses on the members, and updates
// the group's usage, to which the holder contributed `before`. A holder without a claim here is not recorded.
void LeafUsage::set_inside(LeafDomainId group_id, HolderId holder, const std::vector<Wide>& before) {
  LeafDomain& whole = leaves_.at(group_id);
  Group& group = leaves_.group_of(whole);
  const auto found = std::find_if(group.inside.begin(), group.inside.end(),
                                  [&](const Group::Inside& each) { return each.holder == holder; });
  const bool claims =
      std::any_of(whole.rows.begin(), whole.rows.end(), [&](const Row& row) { return row.holder == holder; });
  if (!claims) {
    if (found != group.inside.end()) group.inside.erase(found);
  } else if (found == group.inside.end()) {
    group.inside.push_back({holder, inside_afresh(group, holder)});
  } else {
    found->used = inside_afresh(group, holder);
  }
  std::vector<Wide> after;
  usage(whole, holder, after);
  whole.used.resize(after.size());
  for (std::size_t column = 0; column < after.size(); ++column) whole.used[column] += after[column] - before[column];
}

void LeafUsage::count_inside_anew(LeafDomainId group_id) {
  const LeafDomain& whole = leaves_[group_id];
  std::vector<HolderId> holders;
  for (const Group::Inside& inside : leaves_.group_of(whole).inside) holders.push_back(inside.holder);
  for (HolderId holder : holders) {
    std::vector<Wide> before;
    usage(whole, holder, before);
    set_inside(group_id, holder, before);
  }
}

// A member's usage changed. `inside`: really; false: only tentatively.
void LeafUsage::apply_to_group(LeafDomainId group_id, HolderId holder, const Changes& changes, bool inside) {
  LeafDomain& whole = leaves_.at(group_id);
  Group& group = leaves_.group_of(whole);
  const auto found = !inside ? group.inside.end()
                             : std::find_if(group.inside.begin(), group.inside.end(),
                                            [&](const Group::Inside& each) { return each.holder == holder; });
  if (found == group.inside.end()) {
    add(whole.used, changes);
  } else {
    std::vector<Wide> claimed;
    sum_claims(requests_, whole.rows, holder, claimed);
    found->used.resize(claimed.size());
    whole.used.resize(claimed.size());
    for (const auto& [column, amount] : changes) {
      const Wide before = std::max(claimed[column], found->used[column]);
      found->used[column] += amount;
      whole.used[column] += std::max(claimed[column], found->used[column]) - before;
    }
  }
  const bool freer = std::any_of(changes.begin(), changes.end(), [](const auto& each) { return each.second < 0; });
  views_.touch(whole, freer);
}

// What the holder uses of the leaf, by column. For a group: the part of its claim that exceeds its use of the
// members.
void LeafUsage::usage(const LeafDomain& leaf, HolderId holder, std::vector<Wide>& out) const {
  sum_claims(requests_, leaf.rows, holder, out);
  if (leaf.group.valid()) {
    for (const Group::Inside& inside : leaves_.group_of(leaf).inside) {
      if (inside.holder != holder) continue;
      for (std::size_t column = 0; column < inside.used.size(); ++column) {
        out[column] = std::max<Wide>(out[column] - inside.used[column], 0);
      }
    }
    return;
  }
  if (std::none_of(leaf.rows.begin(), leaf.rows.end(),
                   [&](const Row& row) { return row.holder == holder && row.pods > 0; })) {
    return;
  }
  std::vector<Wide> pods(out.size());
  for (const Row& row : leaf.rows) {
    if (row.holder != holder || row.pods == 0) continue;
    for (const Cell& cell : requests_.cells(row.request))
      pods[cell.column] += static_cast<Wide>(row.pods) * cell.amount;
  }
  for (std::size_t column = 0; column < out.size(); ++column) out[column] = std::max(out[column], pods[column]);
}

}  // namespace berth::engine::topology
