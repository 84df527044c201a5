// berth controller: the controller on any API server, one leader among several processes.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/cluster_access.h"

namespace berth::cli {

struct RunControllerOptions {
  AccessFlags access;
  std::string ns;             // where the Lease and the Secret are; empty: the pod's namespace, else kueue-system
  std::string config;         // a file with Kueue's Configuration; empty: its defaults
  std::string feature_gates;  // "NAME=true,..." (see controller/feature_gates.h)
};

// Works until SIGTERM or SIGINT: then it finishes the writes that were sent, gives the lease back and returns, within
// 25 s; a second signal ends it at once. Prints "ready" and "leading", a line each, on standard output. An error is one line:
// the server cannot be used, or the lease was lost.
Result<void> run_controller(const RunControllerOptions& options);

}  // namespace berth::cli
