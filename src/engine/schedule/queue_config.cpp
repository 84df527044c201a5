#include "engine/schedule/queue_config.h"

#include <algorithm>

namespace berth::engine {

QueueConfig compile_queue(const api::kueue::ClusterQueue& queue, std::vector<std::string> delayed_flavors,
                          Names& names) {
  QueueConfig config;
  std::sort(delayed_flavors.begin(), delayed_flavors.end());
  for (const std::string& flavor : delayed_flavors) config.delayed.push_back(names.flavor(flavor));
  for (const auto& group : queue.resource_groups) {
    ResourceGroup compiled;
    for (const auto& resource : group.covered_resources) {
      ResourceId id = names.resource(resource);
      compiled.resources.push_back(id);
      if (config.group_of.size() <= id.index()) config.group_of.resize(id.index() + 1, -1);
      config.group_of[id.index()] = static_cast<std::int32_t>(config.groups.size());
    }
    for (const auto& flavor : group.flavors) compiled.flavors.push_back(names.flavor(flavor.name));
    config.groups.push_back(std::move(compiled));
  }
  config.by_usage = queue.admission_by_usage;
  config.terms = queue.terms;
  if (!queue.terms.flavor_of_the_rest.empty()) {
    config.group_of_the_rest = static_cast<std::int32_t>(config.groups.size());
    config.groups.push_back({{}, {names.flavor(queue.terms.flavor_of_the_rest)}});
  }
  config.strategy = queue.queueing_strategy;
  config.when_can_borrow = queue.when_can_borrow;
  config.when_can_preempt = queue.when_can_preempt;
  config.preference = queue.preference;
  config.reclaim_within_cohort = queue.reclaim_within_cohort;
  config.borrow_within_cohort = queue.borrow_within_cohort;
  config.borrow_max_priority_threshold = queue.borrow_max_priority_threshold;
  config.within_cluster_queue = queue.within_cluster_queue;
  return config;
}

std::vector<QuotaEntry> compile_quotas(const std::vector<api::kueue::ResourceGroup>& groups, Names& names) {
  std::vector<QuotaEntry> quotas;
  for (const auto& group : groups) {
    for (const auto& flavor : group.flavors) {
      FlavorId flavor_id = names.flavor(flavor.name);
      for (const auto& resource : flavor.resources) {
        Quota quota{to_amount(resource.name, resource.nominal)};
        if (resource.borrowing_limit) quota.borrowing_limit = to_amount(resource.name, *resource.borrowing_limit);
        if (resource.lending_limit) quota.lending_limit = to_amount(resource.name, *resource.lending_limit);
        quotas.push_back({names.pair(flavor_id, names.resource(resource.name)), quota});
      }
    }
  }
  return quotas;
}

}  // namespace berth::engine
