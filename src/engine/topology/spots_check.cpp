// Recomputes the ledger from claims, pods and nodes, to check the incremental updates.
#include <algorithm>
#include <map>

#include "engine/topology/spots.h"

namespace berth::engine::topology {

std::vector<Wide> Spots::used_afresh(SpotId id) const {
  const Spot& spot = spots_[id.index()];
  std::vector<Wide> sum(requests_.columns().size()), each;
  std::vector<HolderId> holders;
  for (const Row& row : spot.rows) holders.push_back(row.holder);
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  for (HolderId holder : holders) {
    if (holders_[holder.index()].away) continue;
    usage(spot, holder, each);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  if (!spot.group.valid()) return sum;
  for (SpotId member : group_of(spot).members) {
    each = used_afresh(member);
    for (std::size_t column = 0; column < sum.size(); ++column) sum[column] += each[column];
  }
  return sum;
}

bool Spots::claims_fit(SpotId id, RequestId request) const {
  const Spot& spot = spots_[id.index()];
  if (!usable(spot)) return true;
  std::vector<Wide> claimed(requests_.columns().size());
  for (const Row& row : spot.rows) {
    if (row.holder <= kAssumed) continue;
    for (const Cell& cell : requests_.cells(row.request)) {
      claimed[cell.column] += static_cast<Wide>(row.claimed) * cell.amount;
    }
  }
  const auto cells = requests_.cells(request);
  return std::all_of(cells.begin(), cells.end(),
                     [&](const Cell& cell) { return claimed[cell.column] <= allocatable(spot, cell.column); });
}

// A new resource column: holders that request this resource use it from now on.
void Spots::grow_columns() {
  const std::size_t columns = requests_.columns().size();
  for (Group& group : groups_) {
    group.sum.resize(columns);
    group.allocatable.resize(columns);
    for (Group::Inside& inside : group.inside) inside.used = inside_afresh(group, inside.holder);
  }
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    if (!spots_[i].rows.empty() || spots_[i].group.valid()) spots_[i].used = used_afresh(SpotId(i));
    for (const Seat& seat : spots_[i].seats) view(seat.flavor)->touch(seat.leaf);
  }
}

std::vector<std::string> Spots::check_rows() const {
  using Key = std::tuple<SpotId, HolderId, RequestId>;
  std::map<Key, std::pair<std::int64_t, std::int64_t>> rows;
  std::vector<std::size_t> pods(holders_.size());
  for (const Pod& pod : pods_) {
    if (pod.uid.empty()) continue;
    ++rows[{pod.spot, pod.holder, pod.request}].second;
    ++pods[pod.holder.index()];
  }
  for (std::size_t i = 0; i < holders_.size(); ++i) {
    for (const Part& part : holders_[i].parts) {
      for (const Place& place : part.places) rows[{place.spot, HolderId(i), part.request}].first += place.pods;
    }
  }
  std::vector<std::string> broken;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    for (const Row& row : spots_[i].rows) {
      const auto it = rows.find({SpotId(i), row.holder, row.request});
      if (it == rows.end() || it->second != std::pair<std::int64_t, std::int64_t>(row.claimed, row.pods)) {
        broken.push_back("spot " + std::to_string(i) + ": a row of holder \"" + holders_[row.holder.index()].name +
                         "\" disagrees with its claims and pods");
      }
      ++seen;
    }
  }
  for (std::size_t i = kAssumed.index() + 1; i < holders_.size(); ++i) {
    if (leavers_.contains(HolderId(i)) != (holders_[i].parts.empty() && pods[i] > 0))
      broken.push_back("holder \"" + holders_[i].name + "\" is wrongly counted among those that leave, or not");
  }
  if (seen != rows.size()) broken.push_back("claims or pods have no row in the ledger");
  for (std::size_t i = 0; i < holders_.size(); ++i) {
    if (pods[i] != holders_[i].pods) broken.push_back("holder \"" + holders_[i].name + "\" miscounts its pods");
  }
  return broken;
}

}  // namespace berth::engine::topology
