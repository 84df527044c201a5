// Puts leaf domains at their positions in the flavors' trees, as the nodes' labels say.
#pragma once

#include <memory>
#include <vector>

#include "engine/topology/leaf_domains.h"
#include "engine/topology/leaf_usage.h"
#include "engine/topology/nodes.h"
#include "engine/topology/strings.h"
#include "engine/topology/views.h"

namespace berth::engine::topology {

class TreeLeaves {
 public:
  TreeLeaves(const Names& names, const StringPool& strings, const Nodes& nodes, LeafDomains& leaves, Views& views,
             LeafUsage& usage)
      : names_(names), strings_(strings), nodes_(nodes), leaves_(leaves), views_(views), usage_(usage) {}

  void set_view(FlavorId flavor, std::unique_ptr<View> view);  // null: the flavor has none
  void renew_worn_views();

  // After a change of its nodes: puts the leaf domain of a hostname at its position in every tree.
  void put(LeafDomainId id);
  void take_out_of_groups(LeafDomainId id);  // before its nodes change
  void ban(LeafDomainId id, bool banned);    // excludes it from placement, or no longer

  // A leaf's path in the view: its value for each level. False when the node is not in it.
  bool path(const View& view, const Node& node, std::vector<StringId>& out) const;

 private:
  void put(LeafDomainId id, View& view);
  void put_in_group(LeafDomainId id, View& view);
  void put_all(View& view);
  void take_all_out(View& view);
  void take_out_of_group(LeafDomainId id, const TreePosition& position);
  bool is_at(const View& view, DomainId leaf) const;  // compares with path_
  void choose_node(LeafDomainId id);

  const Names& names_;
  const StringPool& strings_;
  const Nodes& nodes_;
  LeafDomains& leaves_;
  Views& views_;
  LeafUsage& usage_;
  std::vector<StringId> path_;  // scratch
};

}  // namespace berth::engine::topology
