// What a real API server calls of a controller in this process: webhooks, and the visibility API behind its aggregation layer, as
// config/install makes them known.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "controller/controller.h"

namespace berth::conformance {

// No webhook is called for requests of this user.
inline constexpr const char* kPastWebhooks = "past-webhooks";

class RealFront {
 public:
  // Starts to listen on loopback; on the executor. All but the options must outlive it. Throws std::runtime_error.
  RealFront(api::RestClient& client, Executor& executor, controller::Controller& controller,
            const controller::ControllerOptions& options);
  ~RealFront();  // on the executor

  // The objects that tell the API server of it: to be created in this order.
  std::vector<Json> objects() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::conformance
