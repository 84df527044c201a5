// Nodes are added, changed and removed: which spot they belong to, and its position in the flavors' trees.
#include <algorithm>

#include "engine/topology/spots.h"

namespace berth::engine::topology {

bool Spots::path(const View& view, const Machine& machine, std::vector<StringId>& out) const {
  for (const Label& label : view.node_labels()) {
    if (machine.label(label.key) != label.value) return false;
  }
  out.clear();
  for (StringId key : view.level_keys()) {
    const StringId value = machine.label(key);
    if (!value.valid()) return false;
    out.push_back(value);
  }
  return !view.leaves_are_nodes() || out.back() == machine.host;
}

SpotId Spots::find_host(std::string_view name) const {
  const StringId id = strings_.find(name);
  return id.valid() && id.index() < spot_of_host_.size() ? spot_of_host_[id.index()] : SpotId();
}

SpotId Spots::host(std::string_view name) {
  if (SpotId found = find_host(name); found.valid()) return found;
  SpotId id(spots_.size());
  if (free_spots_.empty()) {
    spots_.emplace_back();
  } else {
    id = free_spots_.back();
    free_spots_.pop_back();
  }
  Spot& spot = spots_[id.index()];
  spot.host = strings_.acquire(name);
  if (spot_of_host_.size() < strings_.size()) spot_of_host_.resize(strings_.size());
  spot_of_host_[spot.host.index()] = id;
  return id;
}

void Spots::release_if_idle(SpotId id) {
  Spot& spot = spots_[id.index()];
  if (spot.nodes > 0 || !spot.rows.empty() || !spot.seats.empty()) return;
  if (spot.group.valid()) {
    group_spots_.erase(groups_[spot.group.index()].key);
    groups_[spot.group.index()] = Group();
    free_groups_.push_back(spot.group);
  } else if (spot.host.valid()) {
    spot_of_host_[spot.host.index()] = SpotId();
    strings_.release(spot.host);
  } else {
    return;  // already free
  }
  spot = Spot();
  free_spots_.push_back(id);
}

bool Spots::usable(const Spot& spot) const {
  if (spot.group.valid()) return !groups_[spot.group.index()].members.empty();
  return spot.machine.valid() && machines_[spot.machine].usable;
}

std::int64_t Spots::allocatable(const Spot& spot, std::uint32_t column) const {
  if (!spot.group.valid()) return spot.machine.valid() ? machines_[spot.machine].room(column) : 0;
  const Group& group = groups_[spot.group.index()];
  return column < group.allocatable.size() ? group.allocatable[column] : 0;
}

bool Spots::set_node(const api::Node& node) {
  const std::size_t columns = requests_.columns().size();
  Machine next = machines_.intern(node);
  if (requests_.columns().size() != columns) grow_columns();
  const MachineId old = machines_.find(node.name);
  if (old.valid() && machines_[old] == next) {
    machines_.drop(next);
    return false;
  }
  const SpotId before = old.valid() ? find_host(strings_[machines_[old].host]) : SpotId();
  const SpotId now = host(strings_[next.host]);
  const bool renamed = old.valid() ? now != before : next.host != next.name;
  if (before.valid()) unseat_from_groups(before);
  if (now != before) unseat_from_groups(now);
  machines_.put(std::move(next));
  if (now != before) {
    ++spots_[now.index()].nodes;
    if (before.valid()) --spots_[before.index()].nodes;
  }
  if (before.valid() && now != before) seat(before);
  seat(now);
  if (renamed) rehome_pods(node.name);
  if (before.valid()) release_if_idle(before);
  return true;
}

bool Spots::remove_node(std::string_view name) {
  const MachineId old = machines_.find(name);
  if (!old.valid()) return false;
  const bool renamed = machines_[old].host != machines_[old].name;
  const SpotId spot = find_host(strings_[machines_[old].host]);
  unseat_from_groups(spot);
  machines_.remove(old);
  --spots_[spot.index()].nodes;
  seat(spot);
  if (renamed) rehome_pods(name);
  release_if_idle(spot);
  return true;
}

// Several nodes may have the same hostname, by mistake: then the first by name represents the spot, in whatever order
// they came.
void Spots::choose_machine(SpotId id) {
  Spot& spot = spots_[id.index()];
  spot.machine = MachineId();
  if (spot.nodes == 0) return;
  if (spot.nodes == 1) {  // the usual case: the node's name is its hostname
    const MachineId found = machines_.find(strings_[spot.host]);
    if (found.valid() && machines_[found].host == spot.host) {
      spot.machine = found;
      return;
    }
  }
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    const MachineId each(i);
    if (!machines_.present(each) || machines_[each].host != spot.host) continue;
    if (!spot.machine.valid() || strings_[machines_[each].name] < strings_[machines_[spot.machine].name])
      spot.machine = each;
  }
}

void Spots::seat(SpotId spot) {
  choose_machine(spot);
  for (auto& view : views_) {
    if (view) seat(spot, *view);
  }
}

bool Spots::sits_at(const View& view, DomainId leaf) const {
  for (std::size_t i = path_.size(); i-- > 0; leaf = view[leaf].parent) {
    if (view[leaf].value != path_[i]) return false;
  }
  return true;
}

void Spots::seat(SpotId id, View& view) {
  Spot& spot = spots_[id.index()];
  if (spot.group.valid()) return;
  const bool fits = spot.machine.valid() && path(view, machines_[spot.machine], path_);
  if (!view.leaves_are_nodes()) {
    if (fits) seat_in_group(id, view);
    return;
  }
  const auto seat = std::find_if(spot.seats.begin(), spot.seats.end(),
                                 [&](const Seat& each) { return each.flavor == view.flavor(); });
  if (seat != spot.seats.end()) {
    if (fits && sits_at(view, seat->leaf)) {
      view.touch(seat->leaf);
    } else {
      view.remove(seat->leaf);
      spot.seats.erase(seat);
      if (fits) spot.seats.push_back({view.flavor(), view.insert(path_, id), SpotId()});
    }
  } else if (fits) {
    spot.seats.push_back({view.flavor(), view.insert(path_, id), SpotId()});
  }
  if (fits && usable(spot)) view.relieved = true;
}

void Spots::set_view(FlavorId flavor, std::unique_ptr<View> view) {
  if (views_.size() <= flavor.index()) views_.resize(flavor.index() + 1);
  auto& slot = views_[flavor.index()];
  if (slot) unseat_all(*slot);
  slot = std::move(view);
  if (slot) seat_all(*slot);
}

void Spots::renew_worn_views() {
  for (auto& view : views_) {
    if (!view || !view->worn()) continue;
    unseat_all(*view);
    view->clear();
    seat_all(*view);
  }
}

// In the order of level values, so that neighbours in the tree are neighbours in memory.
void Spots::seat_all(View& view) {
  std::vector<std::pair<std::vector<std::string_view>, SpotId>> seats;
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    const Spot& spot = spots_[i];
    if (!spot.machine.valid() || !path(view, machines_[spot.machine], path_)) continue;
    std::vector<std::string_view> values;
    for (StringId value : path_) values.push_back(strings_[value]);
    seats.emplace_back(std::move(values), SpotId(i));
  }
  std::sort(seats.begin(), seats.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return strings_[spots_[a.second.index()].host] < strings_[spots_[b.second.index()].host];
  });
  for (const auto& [values, spot] : seats) seat(spot, view);
}

void Spots::unseat_all(View& view) {
  for (std::size_t i = 0; i < spots_.size(); ++i) {
    Spot& spot = spots_[i];
    if (spot.group.valid()) continue;
    const auto seat = std::find_if(spot.seats.begin(), spot.seats.end(),
                                   [&](const Seat& each) { return each.flavor == view.flavor(); });
    if (seat == spot.seats.end()) continue;
    if (seat->group.valid()) {
      unseat_from_group(SpotId(i), *seat);
    } else {
      view.remove(seat->leaf);
    }
    spot.seats.erase(seat);
  }
}

void Spots::ban(SpotId id, bool banned) {
  Spot& spot = spots_[id.index()];
  spot.banned = banned;
  for (const Seat& seat : spot.seats) view(seat.flavor)->touch(seat.leaf);
}

void Spots::touch(const Spot& spot, bool freer) {
  for (const Seat& seat : spot.seats) {
    View& view = *views_[seat.flavor.index()];
    if (seat.group.valid()) continue;  // touch() is called for the group's own spot too
    view.touch(seat.leaf);
    if (freer && !quiet_) view.relieved = true;
  }
}

}  // namespace berth::engine::topology
