// The tree of domains that a flavor's nodes form with the levels of its topology. Domain ids stay the same while the
// tree grows and shrinks, so that counts per domain stay valid.
//
// Leaves are the domains of the lowest level: places name them. Where a leaf is a group of nodes, its nodes may be
// below it, as a level without a label, so that single nodes are counted too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/scheduling.h"
#include "engine/topology/places.h"
#include "engine/topology/strings.h"

namespace berth::engine::topology {

using DomainId = Id<struct DomainTag>;

struct Label {
  StringId key, value;
  bool operator==(const Label&) const = default;
};

class View {
 public:
  // `every_node`: with the nodes below leaves that are groups.
  View(StringPool& strings, FlavorId flavor, const api::kueue::ResourceFlavor& spec,
       const api::kueue::Topology& topology, bool every_node);
  // A copy that uses `strings`, which must be a copy of the other's pool.
  View(const View& other, StringPool& strings);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  struct Domain {
    DomainId parent;  // invalid: a root
    StringId value;
    LeafDomainId leaf_domain;  // set for a leaf, and for a node below it
    std::uint8_t level = 0;
    bool gone = false;               // a removed leaf or node: no longer in any list of children
    std::vector<DomainId> children;  // by value
  };

  FlavorId flavor() const { return flavor_; }
  const std::string& topology() const { return topology_; }
  const std::vector<std::string>& levels() const { return levels_; }
  std::span<const StringId> level_keys() const { return level_keys_; }
  std::size_t leaf_level() const { return levels_.size() - 1; }
  // The lowest level is kubernetes.io/hostname: each leaf is a node.
  bool leaves_are_nodes() const { return leaves_are_nodes_; }
  // Each leaf is a group of nodes, and its nodes are below it.
  bool nodes_below() const { return nodes_below_; }
  std::size_t bottom_level() const { return leaf_level() + (nodes_below_ ? 1 : 0); }  // of the whole tree
  int find_level(std::string_view label) const;                                       // -1: not one of its levels
  std::span<const Label> node_labels() const { return node_labels_; }
  const std::vector<api::Toleration>& tolerations() const { return tolerations_; }

  const Domain& operator[](DomainId id) const { return domains_[id.index()]; }
  std::size_t size() const { return domains_.size(); }  // ids are smaller
  std::span<const DomainId> roots() const { return roots_; }
  std::size_t leaves() const { return leaves_; }
  const std::string& value(DomainId id) const { return strings_[domains_[id.index()].value]; }
  DomainId ancestor(DomainId id, std::size_t level) const;  // the domain itself when it is of that level
  bool before(DomainId a, DomainId b) const;                // in the order of the level values
  std::vector<std::string> values(DomainId id) const;       // one for each level, down to the domain's own

  DomainId insert(std::span<const StringId> path,
                  LeafDomainId leaf_domain);                              // adds a leaf; `path` has one value per level
  DomainId insert_node(DomainId leaf, StringId host, LeafDomainId node);  // adds a node below a leaf
  DomainId find(std::span<const StringId> path) const;                    // a leaf; invalid when there is none
  void remove(DomainId id);  // a leaf without nodes below it, or such a node
  bool worn() const;         // so much was removed that rebuilding the tree pays off
  void clear();              // drops all domains; ids start again

  // --- The log of leaves and of nodes below them whose capacity or usability changed. Each reader remembers how far it
  // has read.
  void touch(DomainId id);
  std::uint64_t log_end() const { return log_start_ + log_.size(); }
  // Returns the entries logged since `position`. Returns false when they are no longer available, or so many that a
  // full recount is cheaper.
  bool read(std::uint64_t position, std::span<const DomainId>& changed) const;
  std::uint64_t version() const { return version_; }  // changes when ids start again

  bool relieved = false;  // capacity got free since take_reliefs() was called

 private:
  std::span<const DomainId> below(DomainId parent) const;  // the roots when it is invalid
  DomainId child(std::span<const DomainId> siblings, StringId value, std::size_t& position) const;
  DomainId find_or_insert(DomainId parent, StringId value);

  StringPool& strings_;
  FlavorId flavor_;
  std::string topology_;
  std::vector<std::string> levels_;
  std::vector<StringId> level_keys_;
  std::vector<Label> node_labels_;
  std::vector<api::Toleration> tolerations_;
  bool leaves_are_nodes_ = false, nodes_below_ = false;

  std::vector<Domain> domains_;
  std::vector<DomainId> roots_;
  std::size_t leaves_ = 0, nodes_ = 0, gone_ = 0;  // nodes_: below leaves
  std::vector<DomainId> log_;
  std::uint64_t log_start_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace berth::engine::topology
