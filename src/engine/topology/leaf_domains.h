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
struct Seat {
  FlavorId flavor;  // of a view
  DomainId leaf;
  SpotId group;  // when leaves are groups: the leaf domain of that leaf
};
struct Spot {
  StringId host;            // of a node's leaf domain; invalid for a group
  std::uint32_t nodes = 0;  // number of nodes with this hostname
  MachineId machine;        // the first of these nodes by name
  GroupId group;            // valid for a group's leaf domain
  bool banned = false;      // excluded from the current placement
  std::vector<Row> rows;
  std::vector<Seat> seats;
  std::vector<Wide> used;  // by column
};
struct Group {
  std::string key;  // flavor, levels and values
  std::vector<std::string> levels, values;
  std::uint32_t seated = 0;               // nodes in it, usable or not
  std::vector<SpotId> members;            // the usable ones
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
  std::deque<Spot> leaves_;
  std::vector<SpotId> free_;
  std::vector<SpotId> of_host_;  // by StringId
  std::deque<Group> groups_;
  std::vector<GroupId> free_groups_;
  std::map<std::string, SpotId, std::less<>> of_group_;  // by key
};

class LeafDomains : private LeafRecords {
 public:
  LeafDomains(StringPool& strings, const Machines& nodes) : strings_(strings), nodes_(nodes) {}
  // A copy that uses copies of the other's strings and nodes.
  LeafDomains(const LeafDomains& other, StringPool& strings, const Machines& nodes)
      : LeafRecords(other), strings_(strings), nodes_(nodes) {}
  LeafDomains(const LeafDomains&) = delete;
  LeafDomains& operator=(const LeafDomains&) = delete;

  SpotId host(std::string_view name);             // created if necessary
  SpotId find_host(std::string_view name) const;  // invalid when there is none
  // Created if necessary.
  SpotId group(std::string_view flavor, std::span<const std::string> levels, std::span<const std::string> values);
  void release_if_idle(SpotId id);  // no node, no row and no tree names it

  Spot& at(SpotId id) { return leaves_[id.index()]; }
  const Spot& operator[](SpotId id) const { return leaves_[id.index()]; }
  std::size_t size() const { return leaves_.size(); }  // ids are smaller
  Group& group_of(const Spot& leaf) { return groups_[leaf.group.index()]; }
  const Group& group_of(const Spot& leaf) const { return groups_[leaf.group.index()]; }

  bool usable(const Spot& leaf) const;
  std::int64_t allocatable(const Spot& leaf, std::uint32_t column) const;
  Wide used(const Spot& leaf, std::uint32_t column) const { return column < leaf.used.size() ? leaf.used[column] : 0; }

 private:
  SpotId add();

  StringPool& strings_;
  const Machines& nodes_;
};

}  // namespace berth::engine::topology
