// Counters and durations of what happens to workloads, under Kueue's names.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/types.h"
#include "base/metrics.h"

namespace berth::controller {

class WorkloadMetrics {
 public:
  // Which queues exist now. Workloads in other queues are not counted: the series of those queues have been removed,
  // and new ones would stay forever.
  struct Queues {
    std::function<bool(std::string_view name)> has_cluster_queue;
    std::function<bool(std::string_view ns, std::string_view name)> has_local_queue;
    // The cohorts of a cluster queue, up to the root; null: none is known.
    std::function<std::vector<std::string>(std::string_view cluster_queue)> cohorts_above = {};
  };

  // Every series has the label replica_role=`role`. `local_queues`: also write series per LocalQueue. `own_labels`:
  // further labels of what LocalQueues tell about admitted workloads, by the workload.
  using OwnLabels = std::function<MetricLabels(const api::kueue::Workload&)>;
  WorkloadMetrics(Metrics& metrics, std::string role, bool local_queues, OwnLabels own_labels = {});

  // Two consecutive versions of one workload: what became true in between is counted once.
  void changed(const api::kueue::Workload& before, const api::kueue::Workload& after, const Queues& queues);

  // A scheduling gate was removed from a pod that the workload admitted. `grouped`: the pod is one of a group of pods.
  void gate_removed(std::string_view gate, const api::kueue::Workload& workload, bool grouped, Time now,
                    const Queues& queues);

  // The queue is gone. Removes its series, so that a new queue of the same name starts at zero.
  void forget_cluster_queue(const std::string& name);
  void forget_local_queue(const std::string& ns, const std::string& name);
  void forget_cohort(const std::string& name);

  // All families, by the kind of object that their series are about. A preemptor: preempting_cluster_queue.
  std::vector<MetricFamily*> of_cluster_queues(), of_local_queues();
  std::vector<MetricFamily*> of_preemptors() { return {&preempted_}; }
  std::vector<MetricFamily*> of_cohorts() { return {&cohort_admitted_}; }

 private:
  struct Subject;  // the queues and labels that a workload counts in
  // A metric of cluster queues and its twin for local queues, which is unused when these are switched off.
  struct Counter {
    CounterFamily cluster_queues, local_queues;
  };
  struct Histogram {
    HistogramFamily cluster_queues, local_queues;
  };
  Counter counter(Metrics& metrics, const std::string& name, const std::string& help) const;
  Histogram histogram(Metrics& metrics, const std::string& name, const std::string& help, int buckets,
                      int local_buckets) const;
  void add(Counter& counter, const Subject& subject, const MetricLabels& own = {});
  // `own`: further labels of the series of the local queue.
  void observe(Histogram& histogram, const Subject& subject, Duration time, const MetricLabels& own = {});

  void reserved(const Subject& subject, const api::kueue::Workload& before, const api::kueue::Workload& after);
  void admitted(const Subject& subject, const api::kueue::Workload& before, const api::kueue::Workload& after,
                const Queues& queues);
  void ready(const Subject& subject, const api::kueue::Workload& before, const api::kueue::Workload& after);
  void finished(const Subject& subject, const api::kueue::Workload& before, const api::kueue::Workload& after);
  void evicted(const Subject& subject, const api::kueue::Workload& before, const api::kueue::Workload& after);
  void quota_released(const Subject& subject, const api::kueue::Workload& after);
  void preempted(const api::kueue::Workload& after, const Queues& queues);

  std::string role_;
  bool per_local_queue_;
  OwnLabels own_labels_;
  Counter reserved_, admitted_, finished_, evicted_;
  Histogram reserved_wait_, admission_wait_, checks_wait_, ready_wait_, admitted_until_ready_, recovery_wait_,
      execution_;
  CounterFamily evicted_once_, preempted_, replaced_slices_, cohort_admitted_;
  HistogramFamily ready_to_evicted_, eviction_latency_, gate_removal_;
};

// Bucket limits in seconds, as in Kueue: 1, then 2.5, then doubling; `count` limits in total.
std::vector<double> wait_buckets(int count);
// Those that Prometheus' clients use unless told otherwise, in seconds: 5 ms to 10 s.
std::vector<double> default_buckets();

}  // namespace berth::controller
