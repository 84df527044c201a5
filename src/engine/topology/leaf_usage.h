// How much is used of each leaf domain. A holder uses the larger of its claims and its pods' requests there, resource
// by resource; `used` is the sum over all holders and always exact.
//
// A claim on a group says how much, but not on which of its nodes: what the holder's pods use on the members counts
// against the claim, and only the excess of the claim is added.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/topology/leaf_domains.h"
#include "engine/topology/requests.h"
#include "engine/topology/views.h"

namespace berth::engine::topology {

// Special holders that are no workloads. Their claims and pods are added, not compared.
inline constexpr HolderId kNobody{std::size_t{0}};   // pods without a placed workload
inline constexpr HolderId kHolds{std::size_t{1}};    // capacity reserved until the end of the cycle
inline constexpr HolderId kAssumed{std::size_t{2}};  // pod sets of the same workload that were just placed
constexpr bool is_workload(HolderId holder) { return holder > kAssumed; }

// Plain values, copied as a whole.
struct LeafUsageRecords {
  using Changes = std::vector<std::pair<std::uint32_t, Wide>>;  // by column

  std::vector<std::uint8_t> away_;  // by holder: it counts as if it used nothing
  std::uint64_t applied_ = 0;       // number of changes of `used` so far
  std::vector<Wide> usage_;         // scratch
  Changes changes_;
};

class LeafUsage : private LeafUsageRecords {
 public:
  LeafUsage(RequestPool& requests, LeafDomains& leaves, Views& views)
      : requests_(requests), leaves_(leaves), views_(views) {}
  // A copy that uses copies of the other's parts.
  LeafUsage(const LeafUsage& other, RequestPool& requests, LeafDomains& leaves, Views& views)
      : LeafUsageRecords(other), requests_(requests), leaves_(leaves), views_(views) {}
  LeafUsage(const LeafUsage&) = delete;
  LeafUsage& operator=(const LeafUsage&) = delete;

  // The holder has so many more (or fewer) claimed and running pods there.
  void change(LeafDomainId id, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods);
  // As if the holder, which uses these leaf domains, used nothing; or as it is.
  void set_away(HolderId holder, bool away, std::span<const LeafDomainId> where);
  bool away(HolderId holder) const { return holder.index() < away_.size() && away_[holder.index()] != 0; }
  const std::vector<Row>& rows(LeafDomainId id) const { return leaves_[id].rows; }
  std::uint64_t applied() const { return applied_; }  // grows with each change of `used`

  // --- Members of groups (group_usage.cpp). `group`: the leaf domain of the group.
  void join(LeafDomainId member, LeafDomainId group);
  void leave(LeafDomainId member, LeafDomainId group);

  // Call it when the nodes have more resource columns: holders that request such a resource use it from now on.
  void grow_columns();

  // --- Questions.
  // Usage by pods without a placed workload, and by kAssumed.
  Wide used_without_workloads(const LeafDomain& leaf, std::uint32_t column) const;
  // Whether the workloads' claims there, for the resources of this request, do not exceed what its nodes have; true
  // without a usable node.
  bool claims_fit(LeafDomainId id, RequestId request) const;
  // What `used` must be, according to the rows. Costs a walk over everything its holders have.
  std::vector<Wide> used_afresh(LeafDomainId id) const;

 private:
  void change_row(LeafDomain& leaf, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods);
  // What the holder uses of the leaf domain, by column. For a group: the part of its claim that exceeds its use of
  // the members.
  void usage(const LeafDomain& leaf, HolderId holder, std::vector<Wide>& out) const;
  void apply(LeafDomainId id, HolderId holder, const Changes& changes, bool inside);
  void apply_to_group(LeafDomainId group, HolderId holder, const Changes& changes, bool inside);
  void set_inside(LeafDomainId group, HolderId holder, const std::vector<Wide>& before);
  void count_inside_anew(LeafDomainId group);
  std::vector<Wide> inside_afresh(const Group& group, HolderId holder) const;
  static void add(std::vector<Wide>& sums, const Changes& changes);

  RequestPool& requests_;
  LeafDomains& leaves_;
  Views& views_;
};

}  // namespace berth::engine::topology
