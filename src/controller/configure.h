// Kueue's Configuration as options of the controller.
#pragma once

#include "api/config/configuration.h"
#include "controller/controller.h"
#include "controller/feature_gates.h"

namespace berth::controller {

// `command_line`: gates given there, empty when there are none; they and those of the file exclude each other. Errors name the
// gate, or the field.
Result<ControllerOptions> controller_options(const api::config::Configuration& configuration, const FeatureGates& command_line);

// The same for webhooks. Which namespaces are managed is left as it is by default: whoever has a controller asks that.
api::kueue::AdmissionPolicy admission_policy(const ControllerOptions& options);

}  // namespace berth::controller
