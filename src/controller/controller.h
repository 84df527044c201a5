// The controller: watches the API server, lets the engine decide, writes what it decided.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/kueue/admission.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/executor.h"
#include "engine/engine.h"

namespace berth::controller {

struct ControllerOptions {
  engine::Options engine;
  // Jobs without the queue-name label are managed too (Configuration: manageJobsWithoutQueueName).
  bool manage_jobs_without_queue_name = false;
  // Of other namespaces no job is managed (Configuration: managedJobsNamespaceSelector).
  api::kueue::NamespaceFilter manages_namespace = api::kueue::all_but_system();
  // Changes of a queue's status are collected this long before they are written.
  Duration queue_status_delay = std::chrono::milliseconds(100);
  // Pods of a workload are collected this long before they are let go to their places. Longer saves looks at large
  // workloads, shorter starts small ones sooner; no place is given twice either way.
  Duration ungate_delay = std::chrono::milliseconds(100);
  std::uint64_t seed = 1;  // of jitter and of event names
};

class Controller {
 public:
  // Both must outlive the controller. Destroying it stops it at once; what is under way is ignored.
  Controller(api::RestClient& client, Executor& executor, ControllerOptions options);
  ~Controller();

  void start();
  bool synced() const;  // every cache is complete and decisions are being taken

  const engine::Engine& engine() const;
  void on_round(std::function<void()> handler);  // after each decision round
  // Requests sent so far: "patch workloads/status" -> count.
  const std::map<std::string, std::uint64_t>& request_counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::controller
