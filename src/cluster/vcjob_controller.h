// The Volcano part of the pretend cluster: makes PodGroups and pods for vcjobs, follows Commands about them and writes
// the statuses of vcjobs and PodGroups, as Volcano's job controller and scheduler do. What to do is decided in
// vcjob_sync.h.
#pragma once

#include <memory>

#include "api/rest.h"
#include "base/executor.h"

namespace berth::cluster {

class VcJobController {
 public:
  // Both must outlive the controller. The server has to serve Volcano's kinds.
  VcJobController(api::RestClient& client, Executor& executor);
  ~VcJobController();

  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks under way, which find it gone
};

}  // namespace berth::cluster
