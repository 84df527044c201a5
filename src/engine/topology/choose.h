// Which domains a pod set gets (KEP-2724), given the counts of what fits where: chooses the level, the domains of
// that level, and their descendants down to the leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/topology/counts.h"
#include "engine/topology/preference.h"
#include "engine/topology/wanted.h"

namespace berth::engine::topology {

struct Share {
  DomainId domain;
  std::int32_t pods = 0;
  bool leader = false;
  std::uint32_t order = 0;  // index in the pool that it was chosen from
};
using Shares = std::vector<Share>;  // by level values

// Moves the domain with the smaller slice to the end of `leaves`: pods get their ranks in this order, and the last
// ones are that slice.
void put_tail_last(const View& view, const Wanted& wanted, Shares& leaves);

class Chooser {
 public:
  // `preference`: null when no domain comes before another one whatever their capacity.
  Chooser(const View& view, const Counts& counts, const Wanted& wanted, bool with_leader, bool least_free,
          const Preference* preference = nullptr)
      : view_(view),
        counts_(counts),
        wanted_(wanted),
        with_leader_(with_leader),
        least_free_(least_free),
        preference_(preference) {}

  // The leaves for `pods` pods (and the leader), below `scope` when it is valid. Empty when they do not fit.
  Shares place(std::int32_t pods, DomainId scope = DomainId());
  // How many slices of `pods` pods, with the smaller one, fit where place() searches: for a required level, in the
  // best domain of that level.
  std::int32_t fits(std::int32_t pods, DomainId scope = DomainId()) const;

  // --- The steps, also used by other placements.
  // Distributes the pods of `shares` (all of one level) to the children, level by level down to the leaves. Above the
  // slice level the children of all shares form one pool; with `stay_inside` each share stays inside its domain.
  // Empty when they do not fit.
  Shares descend(Shares shares, bool stay_inside = false) const;
  // Takes as few domains of `pool` (ordered by level values) as possible for `pods` pods, and appends them to `out`.
  // Returns false when they do not fit. Pods are counted in units: slices at and above the slice level, inner slices
  // below it. A last, smaller slice is in one domain.
  bool take(std::span<const DomainId> pool, std::int32_t pods, bool leader, Shares& out) const;
  std::vector<DomainId> domains_at(std::size_t level, DomainId scope = DomainId()) const;

 private:
  struct Rank {  // the sort key of domains: largest or smallest capacity first, then by level values
    std::uint64_t key = 0;
    std::uint32_t index = 0;  // in the pool
    bool operator<(const Rank& o) const { return key != o.key ? key < o.key : index < o.index; }
  };
  struct TierRank {  // the same with a preference
    std::int64_t tier = 0;
    Rank rank;
    bool operator<(const TierRank& o) const { return tier != o.tier ? tier < o.tier : rank < o.rank; }
  };
  struct Pool {
    std::span<const DomainId> domains;
    bool below = false;     // below the slice level: count pods, in units
    std::int32_t unit = 1;  // pods per unit
  };
  struct Load {
    std::int32_t units = 0;
    std::int32_t tail = 0;  // pods of the smaller slice; 0: there is none
  };

  Pool pool_of(std::span<const DomainId> domains) const;
  // Capacity in units, beside a smaller slice of `tail` pods; -1 when that does not fit.
  std::int32_t units(const Pool& pool, std::uint32_t index, std::int32_t tail = 0) const;
  std::int32_t units_with(const Pool& pool, std::uint32_t index, std::int32_t tail = 0) const;
  Rank rank(const Pool& pool, std::uint32_t index) const;
  Rank rank_with(const Pool& pool, std::uint32_t index) const;
  std::int32_t slices(DomainId id, std::int32_t tail) const;
  DomainId single(std::span<const DomainId> domains, std::int32_t pods) const;
  int choose_leader(const Pool& pool, const Load& wanted) const;
  int first_leader(const Pool& pool, const Load& wanted) const;
  bool largest_first(const Pool& pool) const { return !least_free_ && !pool.below; }
  std::vector<Rank> first_ranks(const Pool& pool, const std::vector<std::int32_t>& capacities,
                                std::int32_t wanted) const;
  int best_fit(const Pool& pool, const std::vector<std::int32_t>& capacities, const Load& wanted) const;
  // Adds workers to the shares from `first` on, which are of this pool.
  bool take_workers(const Pool& pool, Load wanted, int without, std::size_t first, Shares& out) const;
  bool close(const Pool& pool, const std::vector<std::int32_t>& capacities, const Load& wanted, std::size_t first,
             Shares& out) const;
  bool join(const Pool& pool, std::int32_t tail, std::size_t first, Shares& out) const;
  bool open(const Pool& pool, std::int32_t tail, std::size_t first, Shares& out) const;
  bool take_from(const Pool& pool, std::vector<std::int32_t> capacities, Load wanted, std::size_t first,
                 Shares& out) const;
  bool take_workers_by_tier(const Pool& pool, Load wanted, int without, std::size_t first, Shares& out) const;
  std::int64_t tier(DomainId id) const { return preference_ == nullptr ? 0 : preference_->tier(id); }
  void collect(std::size_t level, DomainId from, std::vector<DomainId>& out) const;

  const View& view_;
  const Counts& counts_;
  const Wanted& wanted_;
  bool with_leader_, least_free_;
  const Preference* preference_;
};

}  // namespace berth::engine::topology
