#include "engine/topology/tree_leaves.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::engine::topology {

bool TreeLeaves::path(const View& view, const Node& node, std::vector<StringId>& out) const {
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

// Several nodes may have the same hostname, by mistake: then the first by name represents the leaf domain, in whatever
// order they came.
void TreeLeaves::choose_node(LeafDomainId id) {
  LeafDomain& leaf_domain = leaves_.at(id);
  leaf_domain.node = NodeId();
  if (leaf_domain.nodes == 0) return;
  if (leaf_domain.nodes == 1) {  // the usual case: the node's name is its hostname
    const NodeId found = nodes_.find(strings_[leaf_domain.host]);
    if (found.valid() && nodes_[found].host == leaf_domain.host) {
      leaf_domain.node = found;
      return;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeId each(i);
    if (!nodes_.present(each) || nodes_[each].host != leaf_domain.host) continue;
    if (!leaf_domain.node.valid() || strings_[nodes_[each].name] < strings_[nodes_[leaf_domain.node].name])
      leaf_domain.node = each;
  }
}

void TreeLeaves::put(LeafDomainId leaf_domain) {
  choose_node(leaf_domain);
  for (auto& view : views_.all()) {
    if (view) put(leaf_domain, *view);
  }
}

bool TreeLeaves::is_at(const View& view, DomainId leaf) const {
  for (std::size_t i = path_.size(); i-- > 0; leaf = view[leaf].parent) {
    if (view[leaf].value != path_[i]) return false;
  }
  return true;
}

void TreeLeaves::put(LeafDomainId id, View& view) {
  LeafDomain& leaf_domain = leaves_.at(id);
  if (leaf_domain.group.valid()) return;
  const bool fits = leaf_domain.node.valid() && path(view, nodes_[leaf_domain.node], path_);
  if (!view.leaves_are_nodes()) {
    if (fits) put_in_group(id, view);
    return;
  }
  const auto position = std::find_if(leaf_domain.positions.begin(), leaf_domain.positions.end(),
                                     [&](const TreePosition& each) { return each.flavor == view.flavor(); });
  if (position != leaf_domain.positions.end()) {
    if (fits && is_at(view, position->leaf)) {
      view.touch(position->leaf);
    } else {
      view.remove(position->leaf);
      leaf_domain.positions.erase(position);
      if (fits) leaf_domain.positions.push_back({view.flavor(), view.insert(path_, id), LeafDomainId()});
    }
  } else if (fits) {
    leaf_domain.positions.push_back({view.flavor(), view.insert(path_, id), LeafDomainId()});
  }
  if (fits && leaves_.usable(leaf_domain)) view.relieved = true;
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
  std::vector<std::pair<std::vector<std::string_view>, LeafDomainId>> positions;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const LeafDomain& leaf_domain = leaves_[LeafDomainId(i)];
    if (!leaf_domain.node.valid() || !path(view, nodes_[leaf_domain.node], path_)) continue;
    std::vector<std::string_view> values;
    for (StringId value : path_) values.push_back(strings_[value]);
    positions.emplace_back(std::move(values), LeafDomainId(i));
  }
  std::sort(positions.begin(), positions.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return strings_[leaves_[a.second].host] < strings_[leaves_[b.second].host];
  });
  for (const auto& [values, leaf_domain] : positions) put(leaf_domain, view);
}

void TreeLeaves::take_all_out(View& view) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    LeafDomain& leaf_domain = leaves_.at(LeafDomainId(i));
    if (leaf_domain.group.valid()) continue;
    const auto position = std::find_if(leaf_domain.positions.begin(), leaf_domain.positions.end(),
                                       [&](const TreePosition& each) { return each.flavor == view.flavor(); });
    if (position == leaf_domain.positions.end()) continue;
    if (position->group.valid()) {
      take_out_of_group(LeafDomainId(i), *position);
    } else {
      view.remove(position->leaf);
    }
    leaf_domain.positions.erase(position);
  }
}

void TreeLeaves::put_in_group(LeafDomainId id, View& view) {
  DomainId leaf = view.find(path_);
  LeafDomainId group_domain;
  if (leaf.valid()) {
    group_domain = view[leaf].leaf_domain;
  } else {
    std::vector<std::string> values;
    for (StringId value : path_) values.push_back(strings_[value]);
    group_domain = leaves_.group(names_.name(view.flavor()), view.levels(), values);
    leaf = view.insert(path_, group_domain);
    leaves_.at(group_domain).positions.push_back({view.flavor(), leaf, LeafDomainId()});
  }
  LeafDomain& leaf_domain = leaves_.at(id);
  const DomainId at = view.nodes_below() ? view.insert_node(leaf, leaf_domain.host, id) : leaf;
  leaf_domain.positions.push_back({view.flavor(), at, group_domain});
  ++leaves_.group_of(leaves_[group_domain]).nodes;
  if (leaves_.usable(leaf_domain)) {
    usage_.join(id, group_domain);
    view.relieved = true;
  }
  view.touch(leaf);
}

// Leaves the position in the leaf domain's list.
void TreeLeaves::take_out_of_group(LeafDomainId id, const TreePosition& position) {
  if (leaves_.usable(leaves_[id])) usage_.leave(id, position.group);
  View& view = views_.at(position.flavor);
  DomainId leaf = position.leaf;
  if (view.nodes_below()) {
    leaf = view[leaf].parent;
    view.remove(position.leaf);
  }
  LeafDomain& group_domain = leaves_.at(position.group);
  if (--leaves_.group_of(group_domain).nodes > 0) {
    view.touch(leaf);
    return;
  }
  view.remove(leaf);
  group_domain.positions.clear();
  leaves_.release_if_idle(position.group);
}

void TreeLeaves::take_out_of_groups(LeafDomainId id) {
  LeafDomain& leaf_domain = leaves_.at(id);
  for (const TreePosition& position : leaf_domain.positions) {
    if (position.group.valid()) take_out_of_group(id, position);
  }
  std::erase_if(leaf_domain.positions, [](const TreePosition& position) { return position.group.valid(); });
}

void TreeLeaves::ban(LeafDomainId id, bool banned) {
  LeafDomain& leaf_domain = leaves_.at(id);
  leaf_domain.banned = banned;
  for (const TreePosition& position : leaf_domain.positions) views_.at(position.flavor).touch(position.leaf);
}

}  // namespace berth::engine::topology
