// The controller's options from the head of a recording, read like a user's configuration file and flags.
#pragma once

#include "conformance/site.h"
#include "controller/controller.h"

namespace berth::conformance {

// Throws std::runtime_error with the controller's error message.
controller::ControllerOptions configured(const SiteOptions& options);

}  // namespace berth::conformance
