// The Job controller of the pretend cluster: creates pods for batch/v1 Jobs, counts succeeded and failed pods and
// writes the Jobs' statuses, as kube-controller-manager does. job_sync.h decides what to do.
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
  std::shared_ptr<Impl> impl_;  // shared with pending callbacks, which hold it weakly
};

}  // namespace berth::cluster
