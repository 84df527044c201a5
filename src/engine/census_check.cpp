// The counts and sums of queues, compared with fresh ones.
#include <map>
#include <utility>

#include "engine/census.h"
#include "engine/held_sums.h"
#include "engine/workload_views.h"

namespace berth::engine {

std::vector<std::string> Census::check() const {
  std::vector<std::string> broken;
  check_held(broken);
  check_reasons(broken);
  check_standings(broken);
  return broken;
}

// What queues hold, summed anew.
void Census::check_held(std::vector<std::string>& broken) const {
  HeldSums of_local, of_cluster;
  AskedSums asked;
  workloads_.for_each([&](const Tracked& t) {
    if (const auto waits_for = this->asked(t)) asked.add(t.cluster_queue, waits_for->pod_sets);
    const auto* holding = holding_status(t);
    if (holding == nullptr) return;
    const HeldAmounts held{amounts_held(*holding->admission, *t.now, facts_.options),
                           api::is_true(holding->conditions, api::kueue::kAdmitted)};
    of_local.add(t.local_queue, held);
    of_cluster.add(t.cluster_queue, held);
  });
  if (workloads_.any_marked()) return;
  for (const auto& [name, queue] : facts_.registries.cluster_queues) {
    if (!HeldSums::same(workloads_.totals().held_in_cluster_queue(name), of_cluster.of(name)))
      broken.push_back("ClusterQueue " + name + ": the sums of what its workloads hold are wrong");
    if (workloads_.totals().asked_in_cluster_queue(name) != asked.of(name))
      broken.push_back("ClusterQueue " + name + ": the sums of what its workloads request are wrong");
  }
  for (const auto& [key, queue] : facts_.registries.local_queues) {
    if (!HeldSums::same(workloads_.totals().held_in_local_queue(key), of_local.of(key)))
      broken.push_back("LocalQueue " + key + ": the sums of what its workloads hold are wrong");
  }
}

// The counts, compared with fresh ones.
void Census::check_reasons(std::vector<std::string>& broken) const {
  std::map<std::string, QueueTotals::Counts> of_local, of_cluster;
  workloads_.for_each([&](const Tracked& t) {
    const auto counted = why(t);
    if (!counted) return;
    ++of_local[t.local_queue][*counted];
    ++of_cluster[t.cluster_queue][*counted];
  });
  for (const auto& [name, queue] : facts_.registries.cluster_queues) {
    if (workloads_.totals().counts_of_cluster_queue(name) != of_cluster[name])
      broken.push_back("ClusterQueue " + name + ": the counts of its unadmitted workloads are wrong");
  }
  for (const auto& [key, queue] : facts_.registries.local_queues) {
    if (workloads_.totals().counts_of_local_queue(key) != of_local[key])
      broken.push_back("LocalQueue " + key + ": the counts of its unadmitted workloads are wrong");
  }
}

// Of each cluster queue: what its workloads count as, against its counts.
void Census::check_standings(std::vector<std::string>& broken) const {
  std::map<std::string_view, PendingCounts> pending;
  std::map<std::string_view, std::pair<std::int32_t, std::int32_t>> holders;
  workloads_.for_each_in_any_order([&](const Tracked& t) {
    const bool inadmissible = scheduler_.inadmissible(t.id);
    pending[t.cluster_queue].inadmissible += inadmissible ? 1 : 0;
    pending[t.cluster_queue].active += !inadmissible && scheduler_.pending(t.id) ? 1 : 0;
    holders[t.cluster_queue].first += t.held ? 1 : 0;
    holders[t.cluster_queue].second += t.held && t.held->admitted ? 1 : 0;
  });
  if (workloads_.any_marked()) return;
  for (const auto& [name, queue] : facts_.registries.cluster_queues) {
    const std::size_t all = scheduler_.pending_count(name), inadmissible = scheduler_.inadmissible_count(name);
    const auto& held = workloads_.totals().held_in_cluster_queue(name);
    if (pending[name].inadmissible != inadmissible || pending[name].active != all - inadmissible ||
        holders[name] != std::pair(held.reserving, held.admitted))
      broken.push_back("ClusterQueue " + name + ": what its workloads count as differs from its counts");
  }
}

}  // namespace berth::engine
