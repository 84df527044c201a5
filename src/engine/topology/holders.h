// Who uses capacity: workloads by name, with their claims and the number of their pods.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/pod_placement.h"
#include "base/time.h"
#include "engine/topology/leaf_usage.h"
#include "engine/topology/places.h"

namespace berth::engine::topology {

// A part of a holder's claim: pods of one kind.
struct ClaimPart {
  WorkloadId owner;
  RequestId request;
  std::vector<Place> places;
  std::string unit;  // as in PlaceAsk
};
struct Holder {
  std::string name;
  Places::Labels labels;  // of its workload, for spreading; may be null
  std::vector<ClaimPart> parts;
  std::set<LeafDomainId> strays;  // leaf domains with pods of it, but without a claim
  std::size_t pods = 0;
  // While it is a leaving: when the grace periods of its pods end, and since when a workload waits for it (nullopt:
  // none does).
  Time gone_by{};
  std::optional<Time> awaited_since;
};

// Plain values, copied as a whole.
struct HolderRecords {
  std::deque<Holder> holders_;
  std::vector<HolderId> free_;
  boost::unordered_flat_map<std::string, HolderId> ids_;  // Looked up, never iterated.
  std::vector<HolderId> of_workload_;
  std::set<HolderId> leaving_;
  std::map<std::string, std::set<HolderId>, std::less<>> labelled_;  // those with labels, by namespace
};

class Holders : private HolderRecords {
 public:
  explicit Holders(LeafUsage& usage) : usage_(usage) { holders_.resize(kAssumed.index() + 1); }
  Holders(const Holders& other, LeafUsage& usage) : HolderRecords(other), usage_(usage) {}
  Holders(const Holders&) = delete;
  Holders& operator=(const Holders&) = delete;

  HolderId intern(std::string_view name);
  void release_if_idle(HolderId id);  // it has neither a claim nor pods
  Holder& at(HolderId id) { return holders_[id.index()]; }
  const Holder& operator[](HolderId id) const { return holders_[id.index()]; }
  std::size_t size() const { return holders_.size(); }  // ids are smaller

  HolderId of(WorkloadId workload) const;  // whose claim the workload's is; invalid: it has none
  void set_of(WorkloadId workload, HolderId holder);

  void set_labels(HolderId id, Places::Labels labels);
  const std::set<HolderId>& labelled(std::string_view ns) const;

  // Changes what it has in a leaf domain.
  void change(LeafDomainId leaf, HolderId holder, RequestId request, std::int64_t claimed, std::int64_t pods) {
    usage_.change(leaf, holder, request, claimed, pods);
    if (is_workload(holder)) note_stray(leaf, holder);
  }

  // Holders that have pods but no claim any more: these pods are leaving.
  const std::set<HolderId>& leaving() const { return leaving_; }
  void note_leaving(HolderId id);  // call it after a change of its claim or of the number of its pods
  void note_gone_by(HolderId id, const api::kueue::PodPlacement& pod);
  // Until when to wait for a leaving's pods: five minutes after the first call without `only_looks`, or after the end
  // of their grace periods, whichever is later.
  Time wait_ends(HolderId leaving, Time now, bool only_looks);

 private:
  void note_stray(LeafDomainId leaf, HolderId holder);

  LeafUsage& usage_;
};

}  // namespace berth::engine::topology
