#include "controller/divided_gauges.h"

#include "api/meta.h"
#include "controller/metric_labels.h"

namespace berth::controller {

DividedGauges::DividedGauges(CustomLabels labels, std::string role, Families families)
    : labels_(std::move(labels)), role_(std::move(role)), families_(std::move(families)) {}

void DividedGauges::report(const engine::Engine& engine, const std::set<std::string>& cluster_queues,
                           const std::set<std::pair<std::string, std::string>>& local_queues) {
  const MetricLabels none = labels_.of_workload(nullptr);
  std::map<std::string, Parts, std::less<>> in_cluster_queue, in_local_queue;
  for (const std::string& name : cluster_queues) in_cluster_queue[name][none];
  for (const auto& [ns, name] : local_queues) in_local_queue[api::object_key(ns, name)][none];
  engine.for_each_standing([&](const engine::WorkloadStanding& each) {
    const MetricLabels own = labels_.of_workload(&each.workload.meta);
    const auto add = [&](auto& queues, std::string_view name) {
      const auto parts = queues.find(name);
      if (parts == queues.end()) return;
      Count& count = parts->second[own];
      count.active += each.active ? 1 : 0;
      count.inadmissible += each.inadmissible ? 1 : 0;
      count.admitted += each.admitted ? 1 : 0;
    };
    add(in_cluster_queue, each.cluster_queue);
    add(in_local_queue, each.local_queue);
  });
  for (const auto& [name, parts] : in_cluster_queue) report_cluster_queue({{"cluster_queue", name}}, parts);
  for (const auto& [ns, name] : local_queues)
    report_local_queue({{"name", name}, {"namespace", ns}}, in_local_queue.at(api::object_key(ns, name)));
}

void DividedGauges::report_cluster_queue(const MetricLabels& queue, const Parts& parts) {
  for (const auto& [own, count] : parts) {
    const MetricLabels labels = joined(joined(queue, own), {{"replica_role", role_}});
    families_.pending.set(joined(labels, {{"status", "active"}}), static_cast<double>(count.active));
    families_.pending.set(joined(labels, {{"status", "inadmissible"}}), static_cast<double>(count.inadmissible));
    families_.admitted.set(labels, static_cast<double>(count.admitted));
  }
  for (const MetricLabels& gone : gone_since(queue, parts)) {
    for (GaugeFamily* family : {&families_.pending, &families_.admitted}) family->remove(joined(queue, gone));
  }
}

void DividedGauges::report_local_queue(const MetricLabels& queue, const Parts& parts) {
  for (const auto& [own, count] : parts)
    families_.local_admitted.set(joined(joined(queue, own), {{"replica_role", role_}}),
                                 static_cast<double>(count.admitted));
  for (const MetricLabels& gone : gone_since(queue, parts)) families_.local_admitted.remove(joined(queue, gone));
}

std::set<MetricLabels> DividedGauges::gone_since(const MetricLabels& queue, const Parts& now) {
  std::set<MetricLabels>& reported = reported_[queue];
  std::set<MetricLabels> gone = std::exchange(reported, {});
  for (const auto& [own, count] : now) {
    gone.erase(own);
    reported.insert(own);
  }
  return gone;
}

}  // namespace berth::controller
