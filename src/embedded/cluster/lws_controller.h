// The controller of LeaderWorkerSets of the pretend cluster: creates leaders and workers, and writes the statuses of
// the sets. lws_sync.h decides what to do.
#pragma once

#include <memory>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::cluster {

class LwsController {
 public:
  // Both must outlive the controller. It waits until the server serves LeaderWorkerSets.
  LwsController(api::RestClient& client, Executor& executor);
  ~LwsController();

  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with pending callbacks, which hold it weakly
};

}  // namespace berth::cluster
