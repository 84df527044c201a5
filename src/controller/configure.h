// Converts Kueue's Configuration to the controller's options.
#pragma once

#include "api/config/configuration.h"
#include "controller/controller.h"
#include "controller/feature_gates.h"
#include "controller/metrics.h"

namespace berth::controller {

// `command_line`: the feature gates from the command line; empty when there are none. It is an error when both the
// command line and the file set gates. Errors name the gate or the field.
Result<ControllerOptions> controller_options(const api::config::Configuration& configuration,
                                             const FeatureGates& command_line);

// What its metrics say; `options` are those of the same configuration.
ControllerMetricsOptions metrics_options(const api::config::Configuration& configuration,
                                         const ControllerOptions& options);

// The same for webhooks. The rule for managed namespaces keeps its default; with a controller, use
// Controller::manages_namespace.
api::kueue::AdmissionPolicy admission_policy(const ControllerOptions& options);

}  // namespace berth::controller
