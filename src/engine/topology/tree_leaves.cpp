#include "engine/topology/tree_leaves.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::engine::topology {

bool TreeLeaves::path(const View& view, const Machine& node, std::vector<StringId>& out) const {
  for (const Label& label : view.node_labels()) {
    if (node.label(label.key) != label.value) return false;
  }
  out.clear();
  for (StringId key : view.level_keys()) {
    const StringId value = node.label(key);
    if (!value.valid()) return false;
    out.push_back(value);
  }
  return !view.leaves_are_nodes() || out.back() == node.host;
}

// Several nodes may have the same hostname, by mistake: then the first by name represents the spot, in whatever order
// they came.
void TreeLeaves::choose_node(SpotId id) {
  Spot& spot = leaves_.at(id);
  spot.machine = MachineId();
  if (spot.nodes == 0) return;
  if (spot.nodes == 1) {  // the usual case: the node's name is its hostname
    const MachineId found = nodes_.find(strings_[spot.host]);
    if (found.valid() && nodes_[found].host == spot.host) {
      spot.machine = found;
      return;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const MachineId each(i);
    if (!nodes_.present(each) || nodes_[each].host != spot.host) continue;
    if (!spot.machine.valid() || strings_[nodes_[each].name] < strings_[nodes_[spot.machine].name]) spot.machine = each;
  }
}

void TreeLeaves::put(SpotId spot) {
  choose_node(spot);
  for (auto& view : views_.all()) {
    if (view) put(spot, *view);
  }
}

bool TreeLeaves::is_at(const View& view, DomainId leaf) const {
  for (std::size_t i = path_.size(); i-- > 0; leaf = view[leaf].parent) {
    if (view[leaf].value != path_[i]) return false;
  }
  return true;
}

void TreeLeaves::put(SpotId id, View& view) {
  Spot& spot = leaves_.at(id);
  if (spot.group.valid()) return;
  const bool fits = spot.machine.valid() && path(view, nodes_[spot.machine], path_);
  if (!view.leaves_are_nodes()) {
    if (fits) put_in_group(id, view);
    return;
  }
  const auto seat = std::find_if(spot.seats.begin(), spot.seats.end(),
                                 [&](const Seat& each) { return each.flavor == view.flavor(); });
  if (seat != spot.seats.end()) {
    if (fits && is_at(view, seat->leaf)) {
      view.touch(seat->leaf);
    } else {
      view.remove(seat->leaf);
      spot.seats.erase(seat);
      if (fits) spot.seats.push_back({view.flavor(), view.insert(path_, id), SpotId()});
    }
  } else if (fits) {
    spot.seats.push_back({view.flavor(), view.insert(path_, id), SpotId()});
  }
  if (fits && leaves_.usable(spot)) view.relieved = true;
}

void TreeLeaves::set_view(FlavorId flavor, std::unique_ptr<View> view) {
  auto& slot = views_.slot(flavor);
  if (slot) take_all_out(*slot);
  slot = std::move(view);
  if (slot) put_all(*slot);
}

void TreeLeaves::renew_worn_views() {
  for (auto& view : views_.all()) {
    if (!view || !view->worn()) continue;
    take_all_out(*view);
    view->clear();
    put_all(*view);
  }
}

// In the order of level values, so that neighbours in the tree are neighbours in memory.
void TreeLeaves::put_all(View& view) {
  std::vector<std::pair<std::vector<std::string_view>, SpotId>> seats;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const Spot& spot = leaves_[SpotId(i)];
    if (!spot.machine.valid() || !path(view, nodes_[spot.machine], path_)) continue;
    std::vector<std::string_view> values;
    for (StringId value : path_) values.push_back(strings_[value]);
    seats.emplace_back(std::move(values), SpotId(i));
  }
  std::sort(seats.begin(), seats.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return strings_[leaves_[a.second].host] < strings_[leaves_[b.second].host];
  });
  for (const auto& [values, spot] : seats) put(spot, view);
}

void TreeLeaves::take_all_out(View& view) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    Spot& spot = leaves_.at(SpotId(i));
    if (spot.group.valid()) continue;
    const auto seat = std::find_if(spot.seats.begin(), spot.seats.end(),
                                   [&](const Seat& each) { return each.flavor == view.flavor(); });
    if (seat == spot.seats.end()) continue;
    if (seat->group.valid()) {
      take_out_of_group(SpotId(i), *seat);
    } else {
      view.remove(seat->leaf);
    }
    spot.seats.erase(seat);
  }
}

void TreeLeaves::put_in_group(SpotId id, View& view) {
  DomainId leaf = view.find(path_);
  SpotId group_spot;
  if (leaf.valid()) {
    group_spot = view[leaf].spot;
  } else {
    std::vector<std::string> values;
    for (StringId value : path_) values.push_back(strings_[value]);
    group_spot = leaves_.group(names_.name(view.flavor()), view.levels(), values);
    leaf = view.insert(path_, group_spot);
    leaves_.at(group_spot).seats.push_back({view.flavor(), leaf, SpotId()});
  }
  Spot& spot = leaves_.at(id);
  spot.seats.push_back({view.flavor(), leaf, group_spot});
  ++leaves_.group_of(leaves_[group_spot]).seated;
  if (leaves_.usable(spot)) {
    usage_.join(id, group_spot);
    view.relieved = true;
  }
  view.touch(leaf);
}

// Leaves the seat in the spot's list.
void TreeLeaves::take_out_of_group(SpotId id, const Seat& seat) {
  if (leaves_.usable(leaves_[id])) usage_.leave(id, seat.group);
  View& view = views_.at(seat.flavor);
  Spot& group_spot = leaves_.at(seat.group);
  if (--leaves_.group_of(group_spot).seated > 0) {
    view.touch(seat.leaf);
    return;
  }
  view.remove(seat.leaf);
  group_spot.seats.clear();
  leaves_.release_if_idle(seat.group);
}

void TreeLeaves::take_out_of_groups(SpotId id) {
  Spot& spot = leaves_.at(id);
  for (const Seat& seat : spot.seats) {
    if (seat.group.valid()) take_out_of_group(id, seat);
  }
  std::erase_if(spot.seats, [](const Seat& seat) { return seat.group.valid(); });
}

void TreeLeaves::ban(SpotId id, bool banned) {
  Spot& spot = leaves_.at(id);
  spot.banned = banned;
  for (const Seat& seat : spot.seats) views_.at(seat.flavor).touch(seat.leaf);
}

}  // namespace berth::engine::topology
