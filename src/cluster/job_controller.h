// The Job controller of the pretend cluster: makes pods for batch/v1 Jobs, counts how they end and writes the
// Jobs' statuses, as kube-controller-manager does. What to do is decided in job_sync.h.
#pragma once

#include <memory>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::cluster {

class JobController {
 public:
  // Both must outlive the controller.
  JobController(api::RestClient& client, Executor& executor);
  ~JobController();

  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks under way, which find it gone
};

}  // namespace berth::cluster
