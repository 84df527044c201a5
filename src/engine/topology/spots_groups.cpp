// Spots that are groups of nodes. A claim on a group says how much, but not on which of its nodes: what the holder's
// pods use on the members counts against the claim, and only the excess of the claim is added.
#include <algorithm>

#include "engine/topology/spots.h"

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

SpotId Spots::group(std::string_view flavor, std::span<const std::string> levels, std::span<const std::string> values) {
  std::string key(flavor);
  key += '/';
  for (const auto& list : {levels, values}) {
    for (const std::string& each : list) {
      key += std::to_string(each.size());
      key += ':';
      key += each;
    }
    key += ';';
  }
  if (auto it = group_spots_.find(key); it != group_spots_.end()) return it->second;
  SpotId id(spots_.size());
  if (free_spots_.empty()) {
    spots_.emplace_back();
  } else {
    id = free_spots_.back();
    free_spots_.pop_back();
  }
  GroupId group(groups_.size());
  if (free_groups_.empty()) {
    groups_.emplace_back();
  } else {
    group = free_groups_.back();
    free_groups_.pop_back();
  }
  spots_[id.index()].group = group;
  Group& made = groups_[group.index()];
  made.key = key;
  made.levels.assign(levels.begin(), levels.end());
  made.values.assign(values.begin(), values.end());
  group_spots_.emplace(std::move(key), id);
  return id;
}

void Spots::seat_in_group(SpotId id, View& view) {
  DomainId leaf = view.find(path_);
  SpotId group_spot;
  if (leaf.valid()) {
    group_spot = view[leaf].spot;
  } else {
    std::vector<std::string> values;
    for (StringId value : path_) values.push_back(strings_[value]);
    group_spot = group(names_.name(view.flavor()), view.levels(), values);
    leaf = view.insert(path_, group_spot);
    spots_[group_spot.index()].seats.push_back({view.flavor(), leaf, SpotId()});
  }
  Spot& spot = spots_[id.index()];
  spot.seats.push_back({view.flavor(), leaf, group_spot});
  ++groups_[spots_[group_spot.index()].group.index()].seated;
  if (usable(spot)) {
    join_group(id, group_spot);
    view.relieved = true;
  }
  view.touch(leaf);
}

// Leaves the seat in the spot's list.
void Spots::unseat_from_group(SpotId id, const Seat& seat) {
  if (usable(spots_[id.index()])) leave_group(id, seat.group);
  View& view = *views_[seat.flavor.index()];
  Spot& group_spot = spots_[seat.group.index()];
  if (--groups_[group_spot.group.index()].seated > 0) {
    view.touch(seat.leaf);
    return;
  }
  view.remove(seat.leaf);
  group_spot.seats.clear();
  release_if_idle(seat.group);
}

void Spots::unseat_from_groups(SpotId id) {
  Spot& spot = spots_[id.index()];
  for (const Seat& seat : spot.seats) {
    if (seat.group.valid()) unseat_from_group(id, seat);
  }
  std::erase_if(spot.seats, [](const Seat& seat) { return seat.group.valid(); });
}

void Spots::join_group(SpotId id, SpotId group_id) {
  const Spot& spot = spots_[id.index()];
  Spot& whole = spots_[group_id.index()];
  Group& group = groups_[whole.group.index()];
  const std::size_t columns = requests_.columns().size();
  group.sum.resize(columns);
  group.allocatable.resize(columns);
  whole.used.resize(columns);
  group.members.push_back(id);
  for (std::uint32_t column = 0; column < columns; ++column) {
    group.sum[column] += allocatable(spot, column);
    group.allocatable[column] = saturated(group.sum[column]);
    whole.used[column] += used(spot, column);
  }
  count_inside_anew(group_id);
}

void Spots::leave_group(SpotId id, SpotId group_id) {
  const Spot& spot = spots_[id.index()];
  Spot& whole = spots_[group_id.index()];
  Group& group = groups_[whole.group.index()];
  group.members.erase(std::find(group.members.begin(), group.members.end(), id));
  for (std::uint32_t column = 0; column < group.sum.size(); ++column) {
    group.sum[column] -= allocatable(spot, column);
    group.allocatable[column] = saturated(group.sum[column]);
    whole.used[column] -= used(spot, column);
  }
  count_inside_anew(group_id);
}

std::vector<Wide> Spots::inside_afresh(const Group& group, HolderId holder) const {
  std::vector<Wide> sum(requests_.columns().size()), each;
  for (SpotId member : group.members) {
    const Spot& spot = spots_[member.index()];
    if (std::none_of(spot.rows.begin(), spot.rows.end(), [&](const Row& row) { return row.holder == holder; }))
      continue;
    usage(spot, holder, each);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  return sum;
}

// Call after the members or the rows of a group changed: recomputes what the holder uses on the members, and updates
// the group's usage, to which the holder contributed `before`. A holder without a claim here is not recorded.
void Spots::set_inside(SpotId group_id, HolderId holder, const std::vector<Wide>& before) {
  Spot& whole = spots_[group_id.index()];
  Group& group = groups_[whole.group.index()];
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

void Spots::count_inside_anew(SpotId group_id) {
  const Spot& whole = spots_[group_id.index()];
  std::vector<HolderId> holders;
  for (const Group::Inside& inside : groups_[whole.group.index()].inside) holders.push_back(inside.holder);
  for (HolderId holder : holders) {
    std::vector<Wide> before;
    usage(whole, holder, before);
    set_inside(group_id, holder, before);
  }
}

// A member's usage changed. `inside`: really; false: only tentatively.
void Spots::apply_to_group(SpotId group_id, HolderId holder, const Changes& changes, bool inside) {
  Spot& whole = spots_[group_id.index()];
  Group& group = groups_[whole.group.index()];
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
  touch(whole, freer);
}

// What the holder uses of the spot, by column. For a group: the part of its claim that exceeds its use of the
// members.
void Spots::usage(const Spot& spot, HolderId holder, std::vector<Wide>& out) const {
  sum_claims(requests_, spot.rows, holder, out);
  if (spot.group.valid()) {
    for (const Group::Inside& inside : groups_[spot.group.index()].inside) {
      if (inside.holder != holder) continue;
      for (std::size_t column = 0; column < inside.used.size(); ++column) {
        out[column] = std::max<Wide>(out[column] - inside.used[column], 0);
      }
    }
    return;
  }
  if (std::none_of(spot.rows.begin(), spot.rows.end(),
                   [&](const Row& row) { return row.holder == holder && row.pods > 0; })) {
    return;
  }
  std::vector<Wide> pods(out.size());
  for (const Row& row : spot.rows) {
    if (row.holder != holder || row.pods == 0) continue;
    for (const Cell& cell : requests_.cells(row.request))
      pods[cell.column] += static_cast<Wide>(row.pods) * cell.amount;
  }
  for (std::size_t column = 0; column < out.size(); ++column) out[column] = std::max(out[column], pods[column]);
}

}  // namespace berth::engine::topology
