// berth console: the web console of a cluster, as a process of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/cluster_access.h"

namespace berth::cli {

struct RunConsoleOptions {
  AccessFlags access;
  std::string listen = "127.0.0.1:7080";
  std::string tls_cert, tls_key;  // files with PEM
  bool plain_http = false;
  bool allow_changes = false;
  std::string journal;
  std::vector<std::string> audiences, trusted_proxies;
};

// Serves until SIGTERM or SIGINT. Prints "console: URL" on standard output. An error is one line.
Result<void> run_console(const RunConsoleOptions& options);

}  // namespace berth::cli
