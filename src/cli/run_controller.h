// berth controller: the controller on any API server, with leader election among several processes.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/cluster_access.h"
#include "cli/journal_flags.h"

namespace berth::cli {

struct RunControllerOptions {
  AccessFlags access;
  std::string ns;             // namespace of the Lease and the Secret; empty: the pod's namespace, else kueue-system
  std::string config;         // a file with Kueue's Configuration; empty: its defaults
  std::string job_kinds;      // a directory with descriptions of kinds of jobs; empty: only the Configuration's
  std::string feature_gates;  // "NAME=true,..." (see controller/feature_gates.h)
  bool webhooks = true;       // false: webhooks are not served, and need no certificate
  JournalFlags journal;
};

// Runs until SIGTERM or SIGINT. Then it finishes the writes that were sent, releases the lease and returns within 25
// s; a second signal ends the process at once. Prints "ready" and "leading", one line each, on standard output. An
// error is one line: the server cannot be used, or the lease was lost.
Result<void> run_controller(const RunControllerOptions& options);

}  // namespace berth::cli
