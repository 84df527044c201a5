// What the engine knows about the statuses of cluster queues, cohorts and local queues.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/quantity.h"
#include "base/time.h"

namespace berth::engine {

struct FlavorUsageStatus {
  std::string flavor;
  struct Resource {
    std::string name;
    Amount total, borrowed;
  };
  std::vector<Resource> resources;
};
// How much a cluster queue or cohort borrows of what its parent cohort can lend, divided by its weight (KEP-1714).
// With fair sharing only.
struct FairShareStatus {
  std::int64_t weighted_share = 0;  // in thousandths, rounded up; the largest number when infinite
  // The exact value is borrowed / lendable / weight, for the dominant resource. Metrics report it as floating point.
  std::int64_t borrowed = 0, lendable = 1;
  Quantity::Fraction weight{1, 1};
  bool infinite = false;  // weight is 0 and the node borrows
};
struct ClusterQueueStatus {
  bool active = false;
  std::string reason, message;  // of the Active condition
  std::vector<FlavorUsageStatus> reservation, usage;
  std::int32_t pending = 0, reserving = 0, admitted = 0;
  std::optional<FairShareStatus> fair_share{};
};
struct CohortStatus {
  std::optional<FairShareStatus> fair_share;
};
// What a local queue used lately (KEP-4136), by resource. Changes about once per sampling interval, and when a workload
// of the queue begins or ends to hold quota.
struct PastUsageStatus {
  std::map<std::string, Quantity> consumed;
  Time last_update{};
  // By which the queue is compared with others: weighted, with what was charged in advance, by the queue's weight.
  Quantity score;
  bool last = false;  // the weight is 0: it comes after all others
};
struct LocalQueueStatus {
  bool active = false;
  std::string reason, message;
  std::vector<FlavorUsageStatus> reservation, usage;
  std::int32_t pending = 0, reserving = 0, admitted = 0;
  std::optional<PastUsageStatus> past_usage{};  // with admission fair sharing only
};

}  // namespace berth::engine
