// Why a workload waits, or why it runs where it runs: facts for people and machines. Every list is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/json.h"
#include "base/time.h"

namespace berth::engine {

// The smallest single change of one kind that gives the workload quota now. It was tried on a copy of the scheduler:
// after it, the workload gets quota before anything else changes, except that preempted workloads end.
struct Change {
  enum class Kind : std::uint8_t {
    kRaiseNominalQuota,    // of `cluster_queue`, by `quotas`
    kRaiseBorrowingLimit,  // of `cluster_queue`, by `quotas`
    kEndWorkload,          // `workload` ends or is preempted
    kRestoreNode,          // `node` becomes ready and schedulable again
    kReducePods,           // partial admission of `pod_set` down to `pods` pods is allowed
  };
  struct QuotaStep {
    std::string flavor, resource;
    Amount from, to;
  };
  Kind kind = Kind::kRaiseNominalQuota;
  std::string cluster_queue{};
  std::vector<QuotaStep> quotas{};
  std::string workload{};  // "namespace/name"
  std::string node{};
  std::string pod_set{};
  std::int32_t pods = 0;
  std::vector<std::string> preempts{};  // workloads that it preempts then, "namespace/name"
  std::string text{};                   // one sentence
};
std::string_view to_string(Change::Kind kind);  // "RaiseNominalQuota"

struct Explanation {
  std::string ns, name, uid;
  std::string state;  // of the lifecycle: "Pending", "Held", "Inactive", "Reserved", "Admitted", "Evicting"
  std::string local_queue, cluster_queue;
  std::int32_t priority = 0;
  std::string reason, message;  // of QuotaReserved=False or Admitted=False, as decided; empty for an admitted workload
  std::string summary;          // one sentence

  // --- For a workload without quota.
  struct Ahead {
    std::string workload;  // "namespace/name"
    std::int32_t priority = 0;
    std::optional<Time> queued_at;
  };
  std::optional<std::size_t> position;  // 0-based, in the cluster queue; nullopt: it is not in the queue
  std::vector<Ahead> ahead;             // the next ones before it, at most kMaxAhead, the first of the queue first
  static constexpr std::size_t kMaxAhead = 10;
  // What keeps it from being evaluated at all, and what ends that: sentences.
  struct Blocker {
    std::string reason, text, remedy;
    std::optional<Time> until;  // it ends by itself then
  };
  std::vector<Blocker> blockers;

  struct Holder {
    std::string workload, cluster_queue;
    Amount amount;
    std::int32_t priority = 0;
    std::optional<Time> ends_by;  // its maximum execution time ends then
  };
  // What the pod sets ask of one flavor, and what is missing there.
  struct Shortage {
    std::vector<std::string> pod_sets;
    std::string flavor, resource;  // flavor is empty when the queue does not cover the resource
    std::string mismatch;          // why the pods may not use the flavor; the amounts are 0 then
    Amount wanted, available, most, missing;
    std::vector<Holder> holders;  // at most kMaxHolders, largest first; of the whole tree of cohorts
    std::size_t more_holders = 0;
    static constexpr std::size_t kMaxHolders = 5;
  };
  std::vector<Shortage> shortages;
  std::string places;  // why its pods find no place on the nodes; empty: they do, or need none
  // It would not fit with no other workload there either; the sentence says how much of it would. Empty: it can fit.
  std::string never;
  // The largest number of pods of `never_pod_set` with which it would fit; nullopt: no such number.
  std::optional<std::int32_t> never_at_most;
  std::string never_pod_set;
  // Workloads whose eviction it waits for.
  std::vector<std::string> waits_for;
  // It has what it needs at this time at the latest if nobody overtakes it: the running workloads that must end have
  // used up their maximum execution time.
  struct Forecast {
    Time at{};
    std::size_t ended = 0;  // so many workloads have ended by then
  };
  std::optional<Forecast> forecast;
  std::vector<Change> changes;  // of each kind the smallest; for quotas one for each flavor that may be used

  // --- For a workload with quota.
  struct Assigned {
    std::string pod_set;
    std::int32_t count = 0;
    std::vector<std::pair<std::string, std::string>> flavors;   // resource, flavor
    std::string topology;                                       // of its places; empty: none
    std::vector<std::pair<std::string, std::int32_t>> domains;  // "rack1/node2" and pods, at most kMaxDomains
    std::size_t more_domains = 0;
    static constexpr std::size_t kMaxDomains = 32;
  };
  std::vector<Assigned> assigned;
  std::string considered;            // what was said against other flavors, evaluated in the present state
  std::vector<std::string> victims;  // workloads that were preempted for it and have not got quota again
};

// Takes away the names of workloads of other namespaces than the explained one, for those who may not see them.
void hide_other_namespaces(Explanation& explanation);

// For machines: the fields above in lowerCamelCase; amounts as quantities, times as RFC 3339; what is empty is left
// out.
Json to_json(const Explanation& explanation);

}  // namespace berth::engine
