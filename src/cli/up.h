// berth up: API server, controller and pretend cluster in one process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/cluster_flags.h"

namespace berth::cli {

struct UpOptions {
  std::string data_dir;                   // empty: nothing is kept
  std::string listen = "127.0.0.1:7443";  // address:port; port 0: any
  std::string metrics_listen;  // the same, for metrics alone; empty: only the API server's own port has them
  std::string kubeconfig;                 // where to write it
  std::string token_file;                 // bearer tokens, as kube-apiserver's --token-auth-file; empty: none
  std::vector<std::string> load;          // files and directories of objects to apply at start
  ClusterFlags cluster;
  bool controller = true;     // false: nobody decides but who comes from outside, such as berth controller
  // A file with Kueue's Configuration: what changes decisions is honoured, what concerns a controller's own process is
  // not looked at. Empty: its defaults.
  std::string config;
  std::string feature_gates;  // "NAME=true,..." (see controller/feature_gates.h)
};

// Serves until SIGTERM or SIGINT. Prints the kubeconfig's path and "ready" on standard output. An error is
// one line.
Result<void> run_up(const UpOptions& options);

struct Endpoint {
  std::string address;  // an IP address
  std::uint16_t port = 0;
};
// The value of a flag: "127.0.0.1:7443", ":7443" (all addresses), "localhost:0", "[::1]:7443".
Result<Endpoint> parse_endpoint(std::string_view flag, const std::string& text);

}  // namespace berth::cli
