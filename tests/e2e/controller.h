// `berth controller` processes for a `berth up` that runs without its own controller.
#pragma once

#include <memory>
#include <string>

#include "e2e/server.h"

namespace berth::e2e {

inline constexpr std::chrono::seconds kLease{5};  // lease duration in controller_configuration()

// A port of 127.0.0.1 that is free at this moment.
int free_port();
// A Configuration with free ports of 127.0.0.1 and a lease that is shorter than the default.
std::string controller_configuration(int webhook_port = free_port(), int visibility_port = free_port());
// The whole answer of a plain HTTP server on 127.0.0.1; "" when no server answers.
std::string http_get(int port, const std::string& path);

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
