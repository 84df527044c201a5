// The ledger behind Places: which holder uses how much of which spot, by claims and by pods. A spot is a lowest-level
// domain: a node (by its hostname), or a group of nodes when the topology's lowest level is coarser. A holder uses
// the larger of its claims and its pods' requests there, resource by resource; `used` is the sum over all holders and
// always exact. Spots of missing nodes are kept while any holder uses them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/kueue/pod_placement.h"
#include "engine/topology/nodes.h"
#include "engine/topology/requests.h"
#include "engine/topology/strings.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

using HolderId = Id<struct HolderTag>;
using GroupId = Id<struct GroupTag>;

// Special holders that are no workloads. Their claims and pods are added, not compared.
inline constexpr HolderId kNobody{std::size_t{0}};   // pods without a placed workload
inline constexpr HolderId kHolds{std::size_t{1}};    // capacity reserved until the end of the cycle
inline constexpr HolderId kAssumed{std::size_t{2}};  // pod sets of the same workload that were just placed

struct Row {
  HolderId holder;
  RequestId request;
  std::int64_t claimed = 0, pods = 0;  // wider than one claim can be: several claims may name the same spot
};
// The position of a spot in the tree of one flavor.
struct Seat {
  FlavorId flavor;  // of a view
  DomainId leaf;
  SpotId group;  // when leaves are groups: the spot of that leaf
};
struct Spot {
  StringId host;            // of a node's spot; invalid for a group
  std::uint32_t nodes = 0;  // number of nodes with this hostname
  MachineId machine;        // the first of these nodes by name
  GroupId group;            // valid for a group's spot
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

// The records of Spots: plain values, copied as a whole.
struct SpotRecords {
  using Changes = std::vector<std::pair<std::uint32_t, Wide>>;  // by column
  struct Part {
    WorkloadId owner;
    RequestId request;
    std::vector<Place> places;
  };
  struct Holder {
    std::string name;
    std::vector<Part> parts;
    std::set<SpotId> strays;  // spots with pods of it, but without a claim
    std::size_t pods = 0;
    bool away = false;
    // While it is a leaver: when the grace periods of its pods end, and since when a workload waits for it (nullopt:
    // none does).
    Time gone_by{};
    std::optional<Time> awaited_since;
  };
  struct Pod {
    std::string uid;
    HolderId holder;
    RequestId request;
    std::string node;
    bool bound = false;
    SpotId spot;
  };
  struct Supposed {
    HolderId holder;
    bool was_away;
  };

  std::deque<Spot> spots_;
  std::vector<SpotId> free_spots_;
  std::vector<SpotId> spot_of_host_;  // by StringId
  std::deque<Group> groups_;
  std::vector<GroupId> free_groups_;
  std::map<std::string, SpotId, std::less<>> group_spots_;  // by key
  std::deque<Holder> holders_;
  std::vector<HolderId> free_holders_;
  boost::unordered_flat_map<std::string, HolderId> holder_ids_;  // Looked up, never iterated.
  std::vector<HolderId> holder_of_workload_;
  std::vector<Pod> pods_;
  std::vector<std::uint32_t> free_pods_;
  boost::unordered_flat_map<std::string, std::uint32_t> pod_ids_;  // Looked up, never iterated.
  std::set<HolderId> leavers_;
  std::vector<Supposed> supposed_;
  std::vector<Wide> usage_;  // scratch
  Changes changes_;
  std::vector<StringId> path_;
  bool quiet_ = false;         // changes do not mark views as relieved
  std::uint64_t applied_ = 0;  // number of changes of `used` so far
};

class Spots : private SpotRecords {
 public:
  explicit Spots(Names& names) : names_(names), requests_(names), machines_(strings_, requests_, names) {
    holders_.resize(3);
  }
  // A copy that uses `names`, which must be a copy of the other's names. No trial may be open.
  Spots(const Spots& other, Names& names);
  Spots(const Spots&) = delete;
  Spots& operator=(const Spots&) = delete;

  // --- Nodes and views.
  bool set_node(const api::Node& node);
  bool remove_node(std::string_view name);
  void set_view(FlavorId flavor, std::unique_ptr<View> view);  // null: the flavor has none
  View* view(FlavorId flavor) const { return flavor.index() < views_.size() ? views_[flavor.index()].get() : nullptr; }
  void renew_worn_views();
  // A leaf's path in the view: its value for each level. False when the machine is not in it.
  bool path(const View& view, const Machine& machine, std::vector<StringId>& out) const;

  // --- Claims and pods.
  bool set_pod(const api::kueue::PodPlacement& pod);
  bool remove_pod(std::string_view uid);
  void remove_pods_of(WorkloadId workload);
  void take(WorkloadId workload, std::string_view holder, std::span<const Placed> placed);
  void give_back(WorkloadId workload);
  bool holds(WorkloadId workload) const { return holder_of(workload).valid(); }
  void reserve(HolderId holder, RequestId request, std::span<const Place> places);  // kHolds or kAssumed
  void unreserve(HolderId holder);
  SpotId host(std::string_view name);  // created if necessary
  SpotId group(std::string_view flavor, std::span<const std::string> levels, std::span<const std::string> values);
  void release_if_idle(SpotId spot);

  // --- Tentative changes, undone in reverse order.
  std::size_t suppositions() const { return supposed_.size(); }
  void suppose(HolderId holder, bool away);  // away: as if it held nothing and had no pods
  void undo(std::size_t mark);
  HolderId holder_of(WorkloadId workload) const;
  // Holders that have pods but no claim any more: these pods are leaving.
  const std::set<HolderId>& leavers() const { return leavers_; }
  // Until when to wait for a leaver's pods: five minutes after the first call without `only_looks`, or after the end
  // of their grace periods, whichever is later.
  Time patience(HolderId leaver, Time now, bool only_looks);
  void ban(SpotId spot, bool banned);

  // --- Queries.
  const Spot& operator[](SpotId id) const { return spots_[id.index()]; }
  std::size_t size() const { return spots_.size(); }
  SpotId find_host(std::string_view name) const;
  const Group& group_of(const Spot& spot) const { return groups_[spot.group.index()]; }
  bool usable(const Spot& spot) const;
  std::int64_t allocatable(const Spot& spot, std::uint32_t column) const;
  Wide used(const Spot& spot, std::uint32_t column) const { return column < spot.used.size() ? spot.used[column] : 0; }
  // Usage by pods without a placed workload, and by kAssumed.
  Wide used_without_workloads(const Spot& spot, std::uint32_t column) const;
  std::vector<std::unique_ptr<View>>& views() { return views_; }
  const std::vector<std::unique_ptr<View>>& views() const { return views_; }

  StringPool& strings() { return strings_; }
  RequestPool& requests() { return requests_; }
  const StringPool& strings() const { return strings_; }
  const RequestPool& requests() const { return requests_; }
  const Machines& machines() const { return machines_; }

  // What `used` of a spot must be, according to claims and pods. Costs a walk over everything the spot's holders
  // have.
  std::vector<Wide> used_afresh(SpotId spot) const;
  // Whether the workloads' claims there, for the resources of this request, do not exceed what its nodes have; true
  // without a usable node.
  bool claims_fit(SpotId spot, RequestId request) const;
  // Rows that disagree with the claims and pods they represent.
  std::vector<std::string> check_rows() const;

 private:
  void grow_columns();
  void seat(SpotId spot);  // after a change of its machine: puts it at its position in every view
  void seat(SpotId spot, View& view);
  void seat_in_group(SpotId spot, View& view);
  void seat_all(View& view);
  void unseat_all(View& view);
  void unseat_from_group(SpotId spot, const Seat& seat);
  void unseat_from_groups(SpotId spot);
  bool sits_at(const View& view, DomainId leaf) const;  // compares with path_
  void join_group(SpotId spot, SpotId group);
  void leave_group(SpotId spot, SpotId group);
  void choose_machine(SpotId spot);
  void touch(const Spot& spot, bool freer);
  void rehome_pods(std::string_view node);
  SpotId home(const Pod& pod);

  HolderId intern_holder(std::string_view name);
  void release_holder(HolderId id);
  void note_leaver(HolderId id);
  void note_gone_by(HolderId holder, const api::kueue::PodPlacement& pod);
  void change(SpotId spot, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods);
  void change_row(Spot& spot, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods);
  void note_stray(SpotId spot, HolderId holder);
  // What the holder uses of the spot, by column. For a group: the part of its claim that exceeds its use of the
  // members.
  void usage(const Spot& spot, HolderId holder, std::vector<Wide>& out) const;
  void apply(SpotId spot, HolderId holder, const Changes& changes, bool inside);
  void apply_to_group(SpotId group, HolderId holder, const Changes& changes, bool inside);
  void apply_usage(SpotId spot, HolderId holder, std::int32_t sign);
  void set_inside(SpotId group, HolderId holder, const std::vector<Wide>& before);
  void count_inside_anew(SpotId group);
  std::vector<Wide> inside_afresh(const Group& group, HolderId holder) const;
  static void add(std::vector<Wide>& sums, const Changes& changes);
  void claim(HolderId holder, const Part& part, std::int32_t sign);
  std::vector<Part> parts_of(WorkloadId workload, HolderId holder);  // removed from the holder's list
  void drop_parts(HolderId holder, const std::vector<Part>& parts);

  Names& names_;
  StringPool strings_;
  RequestPool requests_;
  Machines machines_;
  std::vector<std::unique_ptr<View>> views_;  // by flavor
};

}  // namespace berth::engine::topology
