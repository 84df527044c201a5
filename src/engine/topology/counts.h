// How many pods of one kind fit in each domain of a flavor's tree, updated along the paths of the leaves that
// changed. With a leader, also how many fit beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/topology/node_filter.h"
#include "engine/topology/places.h"
#include "engine/topology/topology_ledger.h"
#include "engine/topology/view.h"
#include "engine/topology/wanted.h"

namespace berth::engine::topology {

// What is counted: pods of `pod`, in the slices of a request, next to a pod of `leader`.
struct CountAsk {
  FlavorId flavor;
  PodAsk pod;
  const PodAsk* leader = nullptr;  // null: none
  const Wanted* wanted = nullptr;
  bool on_empty = false;  // as if workloads with places used nothing
};

class Counts {
 public:
  Counts(TopologyLedger& ledger, const CountAsk& ask);
  ~Counts();
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;

  bool answers(const CountAsk& ask) const;
  FlavorId flavor() const { return flavor_; }
  // The number of stored entries: the memory cost.
  std::size_t cells() const { return alone_.size() + with_.size() + rests_.size() + on_nodes_.size() + scores_.size(); }
  void refresh();  // updates to the present state of the ledger

  // Counts of a domain, saturated at 2^31-1. Slices are counted at and above the slice level, pods at and below it.
  std::int32_t pods(DomainId id) const { return alone_[id.index()].pods; }
  std::int32_t slices(DomainId id) const { return alone_[id.index()].slices; }
  bool leader(DomainId id) const { return leader_[id.index()] != 0; }  // the leader fits
  std::int32_t pods_with(DomainId id) const { return with_[id.index()].pods; }
  std::int32_t slices_with(DomainId id) const { return with_[id.index()].slices; }
  // Whole slices that fit beside one smaller slice of `tail` pods (0: without one); -1 when that does not fit.
  std::int32_t slices(DomainId id, std::int32_t tail) const {
    return tail == 0 || rests_[id.index()].alone >= tail ? slices(id) : slices(id) - 1;
  }
  std::int32_t slices_with(DomainId id, std::int32_t tail) const {
    return tail == 0 || rests_[id.index()].with >= tail ? slices_with(id) : slices_with(id) - 1;
  }
  // The sum of the scores (NodeFilter::score) of the nodes there that the pods may use, full or not.
  bool scored() const { return !scores_.empty(); }
  std::int64_t score(DomainId id) const { return scores_.empty() ? 0 : scores_[id.index()]; }
  // For the whole tree: whole slices that fit beside the smaller one, with the leader if there is one; -1 when these
  // two do not fit.
  std::int32_t total(std::int32_t tail) const;
  // Whether the refreshed counts equal a full recount. For tests.
  bool as_counted_afresh();

  // As if nothing fitted in these domains, until the end of its life. Refresh nothing meanwhile.
  class Exclusion {
   public:
    Exclusion(Counts& counts, const std::vector<DomainId>& domains);
    ~Exclusion();
    Exclusion(const Exclusion&) = delete;
    Exclusion& operator=(const Exclusion&) = delete;

   private:
    struct Saved;
    void save(DomainId id);

    Counts& counts_;
    std::vector<Saved> saved_;
  };

 private:
  struct Tally {
    std::int32_t pods = 0, slices = 0;
    bool operator==(const Tally&) const = default;
  };
  // The most capacity for a smaller slice that a domain has without holding fewer whole slices; with the leader: as
  // many as with the leader. A smaller slice costs a whole one where no rest has capacity for it.
  struct Rest {
    std::int32_t alone = 0, with = 0;
    bool operator==(const Rest&) const = default;
  };
  // What fits on the nodes below a leaf, one by one.
  struct OnNodes {
    std::int32_t alone = 0, with = 0;
    bool leader = false;
    bool operator==(const OnNodes&) const = default;
  };
  struct Pod {
    std::vector<ResourceAmount> amounts;  // as asked
    RequestId request;
    NodeFilter filter;
  };
  struct Less {  // minimum, over children that can hold the leader, of the capacity it takes from the other pods
    std::int64_t pods = -1, slices = -1;
  };

  static bool same(const Pod& pod, const PodAsk& ask);
  std::int32_t fitting(const LeafDomain& leaf, const Pod& pod, const Pod* beside) const;
  bool admits(Pod& pod, const LeafDomain& leaf);
  std::int64_t score_of(const LeafDomain& leaf);
  void count_leaf(DomainId id);
  void sum_up(DomainId id);
  Rest rest_of(std::span<const DomainId> children, std::int64_t less_slices) const;
  void set_slices(DomainId id);
  void limit(DomainId leaf);
  bool reachable(DomainId id) const;
  Tally rounded(DomainId id, const Tally& tally) const;
  void count_all();
  void count_below(DomainId id);
  void count_changed(std::span<const DomainId> changed);
  void limit_changed(std::span<const DomainId> changed);
  void want(DomainId id, std::vector<DomainId>& list);

  TopologyLedger& ledger_;
  FlavorId flavor_;
  Pod worker_;
  std::unique_ptr<Pod> chief_;  // the leader
  std::size_t slice_level_ = 0;
  std::int32_t slice_size_ = 1;
  std::vector<std::int32_t> inner_;
  bool on_empty_ = false;

  const View* view_ = nullptr;
  std::uint64_t version_ = 0, seen_ = 0;
  bool counted_ = false;
  std::vector<Tally> alone_, with_;    // by domain; with_ only where there is a leader
  std::vector<Rest> rests_;            // by domain; only where slices have several pods
  std::vector<OnNodes> on_nodes_;      // by domain; only where nodes are below the leaves
  std::vector<std::uint8_t> leader_;   // by domain
  std::vector<std::int64_t> scores_;   // by domain; only where pods prefer nodes
  std::vector<std::uint32_t> stamps_;  // by domain: the round in which it was last summed up
  std::uint32_t round_ = 0;
  std::vector<DomainId> front_, next_;  // scratch
};

// The most recently used counts.
class CountCache {
 public:
  explicit CountCache(TopologyLedger& ledger) : ledger_(ledger) {}
  Counts& get(const CountAsk& ask);  // refreshed; valid until the next get() or forget()
  void forget(FlavorId flavor);      // call it before its view changes
  const std::vector<std::unique_ptr<Counts>>& all() const { return counts_; }

 private:
  TopologyLedger& ledger_;
  std::vector<std::unique_ptr<Counts>> counts_;  // most recently used first
};

}  // namespace berth::engine::topology
