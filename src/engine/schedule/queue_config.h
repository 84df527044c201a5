// A cluster queue's rules, compiled: which flavors its resources may use, and its queueing and preemption policies.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/kueue/types.h"
#include "engine/quota/ledger.h"
#include "engine/quota/names.h"

namespace berth::engine {

struct ResourceGroup {
  std::vector<ResourceId> resources;
  std::vector<FlavorId> flavors;  // in order of preference
  bool operator==(const ResourceGroup&) const = default;
};

struct QueueConfig {
  std::vector<ResourceGroup> groups;
  std::vector<std::int32_t> group_of;  // by resource; -1: not covered
  std::vector<FlavorId> delayed;       // by name: flavors whose nodes an admission check creates first
  api::kueue::QueueingStrategy strategy = api::kueue::QueueingStrategy::kBestEffortFifo;
  api::kueue::FungibilityPolicy when_can_borrow = api::kueue::FungibilityPolicy::kMayStopSearch;
  api::kueue::FungibilityPolicy when_can_preempt = api::kueue::FungibilityPolicy::kTryNextFlavor;
  api::kueue::FungibilityPreference preference = api::kueue::FungibilityPreference::kBorrowingOverPreemption;
  api::kueue::ReclaimWithinCohort reclaim_within_cohort = api::kueue::ReclaimWithinCohort::kNever;
  api::kueue::BorrowWithinCohort borrow_within_cohort = api::kueue::BorrowWithinCohort::kNever;
  std::optional<std::int32_t> borrow_max_priority_threshold;
  api::kueue::WithinClusterQueue within_cluster_queue = api::kueue::WithinClusterQueue::kNever;
  bool by_usage = false;  // local queues that used less lately go first (KEP-4136)
  api::kueue::ClusterQueue::Terms terms;
  // the group for resources that no group names (terms.flavor_of_the_rest); -1: none
  std::int32_t group_of_the_rest = -1;

  bool strict() const { return strategy == api::kueue::QueueingStrategy::kStrictFifo; }
  bool preempts() const {
    return within_cluster_queue != api::kueue::WithinClusterQueue::kNever ||
           reclaim_within_cohort != api::kueue::ReclaimWithinCohort::kNever;
  }
  bool age_decides() const {
    return within_cluster_queue == api::kueue::WithinClusterQueue::kLowerOrNewerEqualPriority;
  }
  bool reclaims() const { return reclaim_within_cohort != api::kueue::ReclaimWithinCohort::kNever; }
  // The index of the group that covers a resource; -1 when none does.
  std::int32_t group(ResourceId resource) const {
    const std::int32_t named = resource.index() < group_of.size() ? group_of[resource.index()] : -1;
    return named < 0 ? group_of_the_rest : named;
  }
  bool operator==(const QueueConfig&) const = default;
};

QueueConfig compile_queue(const api::kueue::ClusterQueue& queue, std::vector<std::string> delayed_flavors,
                          Names& names);
std::vector<QuotaEntry> compile_quotas(const std::vector<api::kueue::ResourceGroup>& groups, Names& names);

}  // namespace berth::engine
