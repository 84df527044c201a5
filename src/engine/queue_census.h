// What queues and cohorts hold and what waits in them, counted: for metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/kueue/workload_ref.h"
#include "base/amount.h"

namespace berth::engine {

// What one workload holds, according to the decisions so far.
struct HeldQuota {
  // its status includes decisions not yet written; valid until the next handle() or schedule()
  api::kueue::WorkloadRef workload;
  std::string cluster_queue;
  std::map<std::string, Amount> amounts;  // by resource, summed over all flavors
};

// Pending workloads of a cluster queue. `active`: wait for their turn. `inadmissible`: wait until something changes
// (parked, in back-off, on hold), or all of them while the queue may not admit.
struct PendingCounts {
  std::size_t active = 0, inadmissible = 0;
};

// What a workload counts as in its queues.
struct WorkloadStanding {
  api::kueue::WorkloadRef workload;
  std::string_view cluster_queue;             // of its admission, else of its local queue; "": unknown
  std::string_view local_queue;               // "namespace/name"
  bool active = false, inadmissible = false;  // as in PendingCounts; neither: it does not wait
  bool reserving = false, admitted = false;   // holds quota; holds it and is admitted
};

// The workloads of a queue that are not admitted, according to the decisions so far.
struct QueueCensus {
  // Why a workload is not admitted: the reason of Admitted=False and, when it has no quota (NoReservation), the
  // reason of QuotaReserved=False.
  using Why = std::pair<std::string, std::string>;
  PendingCounts pending;
  // neither admitted nor finished; empty when Options::unadmitted_observability is off
  std::map<Why, std::size_t> unadmitted;
  // Of a cluster queue only: what the pending workloads request together without pods that are reclaimable, by
  // resource: those that the queue covers, and others that they request.
  std::map<std::string, Amount> requested;
  // Of a cluster queue only: how often workloads wanted victims that others of the same cycle had chosen already.
  struct Overlaps {
    std::uint64_t skips = 0;  // in the last round of decisions: they had victims and wait for another cycle
    // Since the engine was made, victims were searched again and others were found; none are needed once those of the
    // others leave; it does not fit.
    std::uint64_t new_targets = 0, deferred_fit = 0, skipped = 0;
  };
  Overlaps overlaps{};
  // Of a cluster queue only: how many different kinds of workloads wait (Kueue: scheduling hashes). nullopt when
  // Options::scheduling_equivalence_hashing is off.
  std::optional<PendingCounts> classes{};
  // Of a cluster queue only: how many pending workloads would not fit with no other workload there either, as far as
  // they were evaluated.
  std::size_t never_fit = 0;
};
// Where a cohort stands. Names of cohorts; `parent` is "" for a root.
struct CohortPlace {
  std::string parent, root;
  bool operator==(const CohortPlace&) const = default;
};
// Totals of a cohort: its own quota and that of all cohorts and cluster queues below it, as far as they lend it; and
// what all cluster queues below it have reserved.
struct SubtreeQuota {
  std::string flavor, resource;
  Amount quota, reserved;
};

}  // namespace berth::engine
