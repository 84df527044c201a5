// The Volcano part of the pretend cluster: creates PodGroups and pods for Volcano Jobs, carries out Commands about
// them and writes the statuses of Jobs and PodGroups, as Volcano's job controller and scheduler do. vcjob_sync.h
// decides what to do.
#pragma once

#include <memory>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::cluster {

class VcJobController {
 public:
  // Both must outlive the controller. The server must serve Volcano's kinds.
  VcJobController(api::RestClient& client, Executor& executor);
  ~VcJobController();

  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with pending callbacks, which hold it weakly
};

}  // namespace berth::cluster
