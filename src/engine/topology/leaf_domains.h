// The leaf domains: the lowest-level domains of all topologies. A leaf domain is a node (by its hostname), or a group
// of nodes when the topology's lowest level is coarser. The trees of several flavors share the leaf domain of a node; a
// group belongs to one flavor. Leaf domains of missing nodes are kept while anybody uses them.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/topology/nodes.h"
#include "engine/topology/requests.h"
#include "engine/topology/strings.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

using HolderId = Id<struct HolderTag>;
using GroupId = Id<struct GroupTag>;

// What one holder has of one kind of pod in a leaf domain.
struct Row {
  HolderId holder;
  RequestId request;
  std::int64_t claimed = 0, pods = 0;  // wider than one claim can be: several claims may name the same leaf domain
};
// The position of a leaf domain in the tree of one flavor.
struct TreePosition {
  FlavorId flavor;     // of a view
  DomainId leaf;       // when leaves are groups: the leaf, or the node below it
  LeafDomainId group;  // when leaves are groups: the leaf domain of that leaf
};
struct LeafDomain {
  StringId host;            // of a node's leaf domain; invalid for a group
  std::uint32_t nodes = 0;  // number of nodes with this hostname
  NodeId node;              // the first of these nodes by name
  GroupId group;            // valid for a group's leaf domain
  bool banned = false;      // excluded from the current placement
  std::vector<Row> rows;
  std::vector<TreePosition> positions;
  std::vector<Wide> used;  // by column
};
struct Group {
  std::string key;  // flavor, levels and values
  std::vector<std::string> levels, values;
  std::uint32_t nodes = 0;                // nodes in it, usable or not
  std::vector<LeafDomainId> members;      // the usable ones
  std::vector<Wide> sum;                  // sum of the members' allocatable, by column
  std::vector<std::int64_t> allocatable;  // the same, saturated
  // What holders with a claim on this group use on its members: it counts as part of the claim.
  struct Inside {
    HolderId holder;
    std::vector<Wide> used;
  };
  std::vector<Inside> inside;
};

// Plain values, copied as a whole.
struct LeafRecords {
  std::deque<LeafDomain> leaves_;
  std::vector<LeafDomainId> free_;
  std::vector<LeafDomainId> of_host_;  // by StringId
  std::deque<Group> groups_;
  std::vector<GroupId> free_groups_;
  std::map<std::string, LeafDomainId, std::less<>> of_group_;  // by key
};

class LeafDomains : private LeafRecords {
 public:
  LeafDomains(StringPool& strings, const Nodes& nodes) : strings_(strings), nodes_(nodes) {}
  // A copy that uses copies of the other's strings and nodes.
  LeafDomains(const LeafDomains& other, StringPool& strings, const Nodes& nodes)
      : LeafRecords(other), strings_(strings), nodes_(nodes) {}
  LeafDomains(const LeafDomains&) = delete;
  LeafDomains& operator=(const LeafDomains&) = delete;

  LeafDomainId host(std::string_view name);             // created if necessary
  LeafDomainId find_host(std::string_view name) const;  // invalid when there is none
  // Created if necessary.
  LeafDomainId group(std::string_view flavor, std::span<const std::string> levels, std::span<const std::string> values);
  void release_if_idle(LeafDomainId id);  // no node, no row and no tree names it

  LeafDomain& at(LeafDomainId id) { return leaves_[id.index()]; }
  const LeafDomain& operator[](LeafDomainId id) const { return leaves_[id.index()]; }
  std::size_t size() const { return leaves_.size(); }  // ids are smaller
  Group& group_of(const LeafDomain& leaf) { return groups_[leaf.group.index()]; }
  const Group& group_of(const LeafDomain& leaf) const { return groups_[leaf.group.index()]; }

  bool usable(const LeafDomain& leaf) const;
  std::int64_t allocatable(const LeafDomain& leaf, std::uint32_t column) const;
  Wide used(const LeafDomain& leaf, std::uint32_t column) const {
    return column < leaf.used.size() ? leaf.used[column] : 0;
  }

 private:
  LeafDomainId add();

  StringPool& strings_;
  const Nodes& nodes_;
};

}  // namespace berth::engine::topology
