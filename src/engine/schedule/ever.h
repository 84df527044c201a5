// Whether a workload could ever get its quota and places: with the present quotas and nodes, as if no other workload
// were there. Pure: depends on configuration and nodes only, never on what is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/amount.h"
#include "engine/quota/ledger.h"
#include "engine/schedule/entry.h"
#include "engine/schedule/placer.h"

namespace berth::engine {

// Why a workload can never fit, and how much of it would.
struct NeverFits {
  enum class Cause : std::uint8_t {
    kNotCovered,  // no group of the queue has quota for `resource`
    kNoFlavor,    // no flavor may be used by `pod_set`
    kQuota,       // the queue, with all that it may borrow, never has so much of `resource`: at most `most`
    kPlaces,      // quota would do, but the nodes have no place for the pods
  };
  Cause cause = Cause::kQuota;
  std::string cluster_queue, pod_set;
  std::string mismatch;          // kNoFlavor: why the first flavor may not be used
  std::string flavor, resource;  // kQuota: the flavor that has most of it; empty: only together it is too much
  Amount most;
  std::string level;        // kPlaces: the topology level whose domains must hold all pods; empty: none
  std::int32_t wanted = 0;  // pods of `pod_set`
  // The largest number of pods of `pod_set` with which the workload would fit, the other pod sets unchanged; nullopt:
  // fewer pods of one pod set alone are not enough.
  std::optional<std::int32_t> at_most;
  bool operator==(const NeverFits&) const = default;
};

// How a sentence begins that says why: at the end of messages.
inline constexpr std::string_view kNeverFits = "It can never fit: ";
std::string text_of(const NeverFits& never);

class EverFits {
 public:
  EverFits(const Ledger& ledger, Places& places, const Names& names)
      : ledger_(ledger), names_(names), placer_(places, names) {}

  // The entry must have its plan (Nominator). nullopt: it fits with nothing else there, maybe with fewer pods if it
  // allows that; or it has so many combinations of flavors that not all were tried.
  std::optional<NeverFits> ask(const Entry& entry);

 private:
  enum class Answer : std::uint8_t { kYes, kNo, kUnknown };
  Answer fits(std::span<const std::int32_t> counts);
  Answer fits_from(std::size_t unit, std::size_t step, std::size_t index);
  bool has_quota(const Plan::Unit& unit, const Plan::Step& step, std::size_t flavor, Usage& usage) const;
  bool has_quota_alone(const Plan::Unit& unit, const Plan::Step& step) const;
  Amount wanted(const Plan::Unit& unit, const Plan::Want& want) const;
  NeverFits cause();
  void report_quota(NeverFits& out, const Plan::Unit& unit, const Plan::Step& step) const;
  void find_largest(NeverFits& out);
  std::vector<std::int32_t> counts_asked() const;

  const Ledger& ledger_;
  const Names& names_;
  Placer placer_;
  Entry entry_;  // the flavors that are being tried
  Usage usage_;  // of the units before
  int tries_ = 0, looks_ = 0;
  bool quota_did_ = false;  // some combination of flavors had enough quota, only places were missing
};

}  // namespace berth::engine
