// The controller's options as a recording's head gives them: by the path that a user's file and flags take.
#pragma once

#include "conformance/site.h"
#include "controller/controller.h"

namespace berth::conformance {

// Throws std::runtime_error with the controller's own words.
controller::ControllerOptions configured(const SiteOptions& options);

}  // namespace berth::conformance
