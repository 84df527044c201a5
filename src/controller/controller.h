// The controller: watches the API server, lets the engine decide, and writes the decisions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/configuration.h"
#include "api/kueue/webhooks/admission.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/executor.h"
#include "controller/multikueue_options.h"
#include "engine/engine.h"
#include "jobs/devices/claim_charge.h"
#include "jobs/job_facts.h"
#include "jobs/kinds/job_kind.h"
#include "kube/rate_limit.h"

namespace berth::engine {
class Forecasts;
}
namespace berth::journal {
class Journal;
}

namespace berth::controller {

class ControllerMetrics;

struct ControllerOptions {
  engine::Options engine;
  jobs::JobGates jobs;
  jobs::devices::Rules devices;  // which devices count as what
  // Also manage jobs without the queue-name label (Configuration: manageJobsWithoutQueueName).
  bool manage_jobs_without_queue_name = false;
  // Jobs wait for quota (Configuration: integrations.frameworks lists "batch/job").
  bool manage_jobs = true;
  std::vector<jobs::kinds::KnownKind> kinds;  // kinds of jobs that descriptions add
  // Kinds that are not queued but may own jobs that are (Configuration: integrations.externalFrameworks).
  std::vector<api::config::OwnerKind> external_kinds;
  // Plain pods and groups of pods wait for quota too (Configuration: integrations.frameworks lists "pod").
  bool manage_pods = false;
  // Deployments: their pods wait one by one; StatefulSets: their pods wait as a group ("deployment", "statefulset").
  // LeaderWorkerSets: their pods wait as groups, each with its leader ("leaderworkerset.x-k8s.io/leaderworkerset"). All
  // of them need manage_pods.
  bool manage_deployments = false;
  bool manage_stateful_sets = false;
  bool manage_leader_worker_sets = false;
  // Only jobs in matching namespaces are managed (Configuration: managedJobsNamespaceSelector).
  api::LabelSelector managed_namespaces = api::config::Configuration::default_managed_namespaces("kueue-system");
  // The labels and annotations that a new workload copies from its job (Configuration: integrations.labelKeysToCopy,
  // and metrics.customLabels of the kind Workload).
  std::vector<std::string> label_keys_to_copy, annotation_keys_to_copy;
  // For evicted workloads that nobody's job stops (Configuration: ownerlessWorkloads).
  api::config::OwnerlessWorkloads ownerless_workloads;
  // Events say when waiting workloads are expected to start (Configuration: expectedStart.events).
  bool expected_start_events = false;
  // Local queues that are made in each namespace (Configuration: defaultLocalQueues).
  api::config::DefaultLocalQueues default_local_queues;
  // Which jobs run on other clusters, and how these are found. Used while jobs.multikueue is on.
  MultiKueueOptions multikueue;
  // How Volcano's kinds are handled (Configuration: volcano).
  api::config::Volcano volcano;
  // How long changes of a queue's status are collected before the status is written.
  Duration queue_status_delay = std::chrono::milliseconds(100);
  // The limit for the status writes of all queues together. When many statuses change all the time, each queue gets
  // its turn and is then written with its current status.
  kube::RateLimitOptions queue_status_rate{10, 100};
  // How long pods of a workload or a group are collected before they are ungated. A longer delay means fewer looks at
  // large workloads; a shorter delay starts small workloads sooner. No place in a topology domain is given to two pods
  // in either case.
  Duration ungate_delay = std::chrono::milliseconds(100);
  bool pending_workloads_api = true;  // the process serves the visibility API (gate VisibilityOnDemand)
  // Settings that Berth does not honour; the process reports them at its start.
  std::vector<api::config::NotHonoured> not_honoured;
  // For ControllerMetricsOptions: none while the gate CustomMetricLabels is off.
  std::vector<api::config::CustomLabel> custom_metric_labels;
  std::uint64_t seed = 1;  // for jitter and event names
  // Compares descriptions of kinds with the OpenAPI documents of the server. The embedded server makes these documents
  // anew after each change of a definition, which most tests need not pay for.
  bool compare_kinds = false;
  // Gets all metrics while this process leads; must outlive the controller.
  ControllerMetrics* metrics = nullptr;
  // Records what the engine is given and decides; must outlive the controller. Null: nothing is recorded.
  journal::Journal* journal = nullptr;
};

class Controller {
 public:
  // `client` and `executor` must outlive the controller. The destructor stops it at once; answers to pending requests
  // are ignored.
  Controller(api::RestClient& client, Executor& executor, ControllerOptions options);
  ~Controller();

  // Fills the caches and keeps them up to date. Until lead() the controller is a follower: it decides and writes
  // nothing.
  void start();
  bool synced() const;                            // every cache has been complete once
  void on_synced(std::function<void()> handler);  // call before start()

  // Starts deciding and writing. Decisions begin when the caches are complete and show every workload as it was at
  // this call or later; the same holds for every pod when a flavor has a topology, pods are managed, or Volcano's
  // PodGroups are counted.
  // `until` returns the time until which this process may write, as far as is known when it is called; empty: no
  // limit. Call at most once, before or after start(). There is no way back: a process that loses the lease must
  // exit.
  void lead(std::function<Time()> until = {});
  bool leading() const;  // decisions are being made
  void on_leading(std::function<void()> handler);

  // resources(): all cached resources, except those that a cluster may lack. missing(): the names of resources whose
  // caches are not complete yet ("workloads").
  std::vector<api::GroupVersionResource> resources() const;
  std::vector<std::string> missing() const;

  // Stops deciding and sending. `done` is called once, when every request that was sent has its answer.
  void drain(std::function<void()> done);
  // `done` is called once, when every recorded event is written or given up.
  void when_events_are_written(std::function<void()> done);

  // The cached object; null when the cache does not have it, or when no cache holds the resource. `ns` is empty for
  // cluster-scoped objects.
  JsonPtr find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const;

  // Whether jobs in this namespace are managed, by its current labels. Webhooks use this as well.
  bool manages_namespace(std::string_view ns) const;

  // Admission rules for Volcano's kinds, based on this controller's caches and ledger; the controller must outlive
  // them. The functions are empty for other kinds, before Volcano's queues have been read, and when Volcano is
  // switched off.
  api::kueue::AdmissionRules volcano_rules(std::string_view group, std::string_view resource) const;
  // The number of workloads that hold quota in this Volcano queue itself, from the ledger. It includes workloads
  // whose status has not been written yet.
  std::size_t volcano_holders(std::string_view queue) const;

  const engine::Engine& engine() const;
  // When workloads start, and what is known of the run times of those that finished while this process watched, and of
  // those that were still there when it began.
  engine::Forecasts& forecasts() const;
  // What the devices of the pods of such a workload would count now; null: nothing that is counted.
  engine::Ptr<api::kueue::DeviceCharge> device_charge(const api::kueue::Workload& workload) const;
  // Updates the gauges of ControllerOptions::metrics; call before they are read. Does nothing in a follower.
  void refresh_metrics();
  void on_round(std::function<void()> handler);  // called after each decision round
  // The number of requests sent so far: "patch workloads/status" -> count.
  const std::map<std::string, std::uint64_t>& request_counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::controller
