// The invariants of the topology ledger, for tests.
#include <fmt/format.h>

#include <algorithm>

#include "engine/topology/places_impl.h"

namespace berth::engine {

using topology::DomainId;
using topology::LeafDomain;
using topology::View;

namespace {

void check_used(const topology::TopologyLedger& ledger, std::vector<std::string>& broken) {
  for (std::size_t i = 0; i < ledger.leaves.size(); ++i) {
    const std::vector<topology::Wide> fresh = ledger.usage.used_afresh(LeafDomainId(i));
    for (std::uint32_t column = 0; column < fresh.size(); ++column) {
      if (ledger.leaves.used(ledger.leaves[LeafDomainId(i)], column) == fresh[column]) continue;
      const std::string& resource = ledger.requests.names().name(ledger.requests.columns().resource(column));
      broken.push_back(fmt::format("leaf domain {}: the use of {} is not the sum of claims and pods", i, resource));
    }
  }
}

// Every node is in the domain that its labels name, and the tree contains no other nodes.
void check_positions(const topology::TopologyLedger& ledger, const View& view, std::vector<std::string>& broken) {
  std::size_t nodes = 0, leaves = 0;
  std::vector<topology::StringId> path;
  for (std::size_t i = 0; i < ledger.leaves.size(); ++i) {
    const LeafDomain& leaf_domain = ledger.leaves[LeafDomainId(i)];
    const auto position =
        std::find_if(leaf_domain.positions.begin(), leaf_domain.positions.end(),
                     [&](const topology::TreePosition& each) { return each.flavor == view.flavor(); });
    const bool is_there = position != leaf_domain.positions.end();
    if (is_there && (leaf_domain.group.valid() || view.leaves_are_nodes())) ++leaves;
    if (leaf_domain.group.valid()) continue;
    const bool fits = leaf_domain.node.valid() && ledger.tree_leaves.path(view, ledger.nodes[leaf_domain.node], path);
    const DomainId leaf = !is_there ? DomainId() : view.nodes_below() ? view[position->leaf].parent : position->leaf;
    if (is_there != fits || (fits && view.find(path) != leaf)) {
      broken.push_back(fmt::format("leaf domain {} sits in the wrong place of topology {}", i, view.topology()));
    }
    nodes += is_there;
  }
  if (leaves != view.leaves() || nodes < leaves)
    broken.push_back(fmt::format("topology {} miscounts its leaves", view.topology()));
}

}  // namespace

std::vector<std::string> Places::check() const {
  std::vector<std::string> broken = impl_->overfull;
  for (std::string& each : impl_->ledger.check_rows()) broken.push_back(std::move(each));
  check_used(impl_->ledger, broken);
  for (const auto& view : impl_->ledger.views.all()) {
    if (view) check_positions(impl_->ledger, *view, broken);
  }
  for (const auto& counts : impl_->counts.all()) {
    if (!counts->as_counted_afresh()) {
      broken.push_back(
          fmt::format("the cached counts of flavor {} differ from a fresh count", impl_->names.name(counts->flavor())));
    }
  }
  return broken;
}

}  // namespace berth::engine
