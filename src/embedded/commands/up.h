// berth up: API server, controller and pretend cluster in one process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/journal_flags.h"
#include "embedded/commands/cluster_flags.h"

namespace berth::cli {

// A worker cluster that the manager's MultiKueue is to know.
struct UpWorker {
  std::string name, kubeconfig;  // the text of its kubeconfig
};

struct UpOptions {
  std::string data_dir;                   // empty: state is not kept
  bool accept_lost_writes = false;        // start although stored writes are missing or damaged
  std::string listen = "127.0.0.1:7443";  // address:port; port 0: any
  std::string metrics_listen;  // address:port for metrics only; empty: only the API server's port serves metrics
  // Where the web console is served, address:port; "off": nowhere; empty: on 127.0.0.1:7080, or on any port when that
  // one is taken.
  std::string console;
  bool console_changes = false;   // users of the console may stop and resume queues, activate and deactivate workloads
  std::string kubeconfig;         // path of the kubeconfig to write
  std::string token_file;         // bearer tokens, in the format of kube-apiserver's --token-auth-file; empty: none
  std::vector<std::string> load;  // files and directories of objects to apply at start
  // Kinds of jobs of other projects that are served from the start (see embedded/apiserver/crd/external_kinds.h). A
  // definition that is stored already stays, also when it is not named.
  std::string kinds = "all";
  std::string job_kinds;  // a directory with descriptions of further kinds; empty: none
  std::vector<UpWorker> workers;
  ClusterFlags cluster;
  bool controller = true;  // false: no controller in this process; another one, such as berth controller, may connect
  // A file with Kueue's Configuration. Settings that change decisions take effect; settings of a controller process
  // are ignored. Empty: the defaults, and the framework pod is on.
  std::string config;
  std::string feature_gates;  // "NAME=true,..." (see controller/feature_gates.h)
  JournalFlags journal;
};

// Serves until SIGTERM or SIGINT. Prints the kubeconfig's path and "ready" on standard output. An error is one line.
Result<void> run_up(const UpOptions& options);

}  // namespace berth::cli
