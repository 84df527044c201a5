// The endpoints of a controller in this process that a real API server calls: webhooks, and the visibility API behind
// the aggregation layer, registered as config/install does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "controller/controller.h"

namespace berth::conformance {

// Requests of this user skip all webhooks.
inline constexpr const char* kPastWebhooks = "past-webhooks";

class RealFront {
 public:
  // Starts to listen on loopback. Call it on the executor. All arguments except the options must outlive it. Throws
  // std::runtime_error.
  RealFront(api::RestClient& client, Executor& executor, controller::Controller& controller,
            const controller::ControllerOptions& options);
  ~RealFront();  // call it on the executor

  // The objects that register the endpoints with the API server; create them in this order.
  std::vector<Json> objects() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::conformance
