// What MultiKueue counts, under Kueue's names, for each ClusterQueue and worker cluster.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/metrics.h"

namespace berth::controller {

class MultiKueueMetrics {
 public:
  // `role`: the label replica_role.
  MultiKueueMetrics(Metrics& metrics, std::string role);

  void dispatched(const std::string& cluster_queue, const std::string& cluster);  // a copy was created
  void admitted(const std::string& cluster_queue, const std::string& cluster);    // the cluster was chosen
  // The cluster evicted the copy. `reason` is what it says: one that Kueue does not have counts as "Other".
  void evicted(const std::string& cluster_queue, const std::string& cluster, std::string_view reason);

  enum class Active { kTrue, kFalse, kUnknown };
  // The states of all clusters of all queues are set anew: begin, then each of them.
  void begin_states();
  void state(const std::string& cluster_queue, const std::string& cluster, Active active);
  // The queue is gone, and with it its series.
  void forget_cluster_queue(const std::string& name);

 private:
  const std::string role_;
  CounterFamily dispatched_, admitted_, evicted_;
  GaugeFamily status_;
  std::set<std::string> queues_with_states_;
};

}  // namespace berth::controller
