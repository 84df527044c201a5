// `berth controller` processes for a `berth up` that runs without its own controller.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "e2e/server.h"
#include "support/free_port.h"

namespace berth::e2e {

using testing_support::free_port;

// The lease duration of a ControllerProcess: how long its successor waits. A machine that stalls the leader for longer
// makes it end by itself.
inline constexpr std::chrono::seconds kLease{15};
inline constexpr std::chrono::seconds kLongLease{60};  // a busy machine does not let it expire

// A Configuration with free ports of 127.0.0.1. Pods, Deployments and StatefulSets are managed, too.
std::string controller_configuration(int webhook_port = free_port(), int visibility_port = free_port(),
                                     std::chrono::seconds lease = kLongLease);
// The whole answer of a plain HTTP server on 127.0.0.1; "" when no server answers.
std::string http_get(int port, const std::string& path);

// A controller whose lease is short, so that another one soon takes over.
class ControllerProcess {
 public:
  // The namespace kueue-system must exist.
  explicit ControllerProcess(const Cluster& server);

  bool wait_until_ready() { return process_->wait_for_output("ready\n"); }
  bool wait_until_leading() { return process_->wait_for_output("leading\n"); }
  bool leads() { return process_->has_said("leading\n"); }
  Process& process() { return *process_; }

 private:
  std::unique_ptr<Process> process_;
};

}  // namespace berth::e2e
