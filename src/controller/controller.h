// The controller: watches the API server, lets the engine decide, writes what it decided.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/configuration.h"
#include "api/kueue/admission.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/executor.h"
#include "engine/engine.h"
#include "jobs/job_facts.h"
#include "kube/rate_limit.h"

namespace berth::controller {

class ControllerMetrics;

struct ControllerOptions {
  engine::Options engine;
  jobs::JobGates jobs;
  // Jobs without the queue-name label are managed too (Configuration: manageJobsWithoutQueueName).
  bool manage_jobs_without_queue_name = false;
  // Of other namespaces no job is managed (Configuration: managedJobsNamespaceSelector).
  api::LabelSelector managed_namespaces = api::config::Configuration::default_managed_namespaces("kueue-system");
  // Labels of a job that its workload gets when it is made (Configuration: integrations.labelKeysToCopy).
  std::vector<std::string> label_keys_to_copy;
  api::config::Volcano volcano;  // what is done about Volcano's kinds (Configuration: volcano)
  // Changes of a queue's status are collected this long before they are written.
  Duration queue_status_delay = std::chrono::milliseconds(100);
  // Of all queues together: while many change all the time, each is written in turn, as it is then.
  kube::RateLimitOptions queue_status_rate{10, 100};
  // Pods of a workload are collected this long before they are let go to their places. Longer saves looks at large
  // workloads, shorter starts small ones sooner; no place is given twice either way.
  Duration ungate_delay = std::chrono::milliseconds(100);
  std::uint64_t seed = 1;  // of jitter and of event names
  ControllerMetrics* metrics = nullptr;  // told of everything while this process leads; must outlive the controller
};

class Controller {
 public:
  // Both must outlive the controller. Destroying it stops it at once; what is under way is ignored.
  Controller(api::RestClient& client, Executor& executor, ControllerOptions options);
  ~Controller();

  // Fills the caches and keeps them up to date: a follower, which decides and writes nothing.
  void start();
  bool synced() const;  // every cache has been complete
  void on_synced(std::function<void()> handler);  // before start()

  // Decides and writes from now on, as soon as the caches are complete and show every workload, and every pod when places are given,
  // as it was when this was called or later. `until` says until when it may write, as far as is known at the moment it is asked; empty: for ever. At most once,
  // before or after start(); there is no way back: who may not lead any more ends.
  void lead(std::function<Time()> until = {});
  bool leading() const;  // decisions are being taken
  void on_leading(std::function<void()> handler);

  // What it reads, besides what a cluster may lack; and what of that the caches have not got yet, by name ("workloads").
  std::vector<api::GroupVersionResource> resources() const;
  std::vector<std::string> missing() const;

  // Decides nothing more. `done` is called, once, when every write that was sent has its answer.
  void drain(std::function<void()> done);
  // `done` is called, once, when every event that was recorded is written or given up.
  void when_events_are_written(std::function<void()> done);

  // What the caches have; null when they do not know the object, or do not hold the resource. Cluster-scoped: `ns` is empty.
  JsonPtr find(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const;

  // Whether jobs of this namespace are managed, by its labels as they are now: what webhooks have to know as well.
  bool manages_namespace(std::string_view ns) const;

  // Rules of admission for Volcano's kinds, by its caches and its ledger; they must not outlive it. Empty functions for other kinds,
  // before Volcano's queues were read, and when they are not its business.
  api::kueue::AdmissionRules volcano_rules(std::string_view group, std::string_view resource) const;
  // Workloads that hold quota in this queue of Volcano's itself, by the ledger: also those that nothing was written about yet.
  std::size_t volcano_holders(std::string_view queue) const;

  const engine::Engine& engine() const;
  void refresh_metrics();                        // brings the gauges of ControllerOptions::metrics up to date: before they are read
  void on_round(std::function<void()> handler);  // after each decision round
  // Requests sent so far: "patch workloads/status" -> count.
  const std::map<std::string, std::uint64_t>& request_counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::controller
