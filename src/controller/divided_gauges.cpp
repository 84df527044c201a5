#include "controller/divided_gauges.h"

#include "api/meta.h"
#include "controller/metric_labels.h"

namespace berth::controller {

DividedGauges::DividedGauges(CustomLabels labels, std::string role, Families of_cluster_queues,
                             Families of_local_queues)
    : labels_(std::move(labels)),
      role_(std::move(role)),
      of_cluster_queues_(std::move(of_cluster_queues)),
      of_local_queues_(std::move(of_local_queues)) {}

void DividedGauges::tell(const engine::Engine& engine, const std::set<std::string>& cluster_queues,
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
      count.reserving += each.reserving ? 1 : 0;
      count.admitted += each.admitted ? 1 : 0;
    };
    add(in_cluster_queue, each.cluster_queue);
    add(in_local_queue, each.local_queue);
  });
  for (const auto& [name, parts] : in_cluster_queue) tell_queue(of_cluster_queues_, {{"cluster_queue", name}}, parts);
  for (const auto& [ns, name] : local_queues)
    tell_queue(of_local_queues_, {{"name", name}, {"namespace", ns}}, in_local_queue.at(api::object_key(ns, name)));
}

void DividedGauges::tell_queue(Families& families, const MetricLabels& queue, const Parts& parts) {
  auto before = std::exchange(told_[queue], {});
  for (const auto& [own, count] : parts) {
    const MetricLabels labels = joined(joined(queue, own), {{"replica_role", role_}});
    families.pending.set(joined(labels, {{"status", "active"}}), static_cast<double>(count.active));
    families.pending.set(joined(labels, {{"status", "inadmissible"}}), static_cast<double>(count.inadmissible));
    families.reserving.set(labels, static_cast<double>(count.reserving));
    families.admitted.set(labels, static_cast<double>(count.admitted));
    told_[queue].insert(own);
    before.erase(own);
  }
  for (const MetricLabels& gone : before) {
    for (GaugeFamily* family : {&families.pending, &families.reserving, &families.admitted})
      family->remove(joined(queue, gone));
  }
}

}  // namespace berth::controller
