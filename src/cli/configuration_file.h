// Reads the Configuration file that --config names.
#pragma once

#include <string>
#include <string_view>

#include "api/config/configuration.h"
#include "base/result.h"

namespace berth::cli {

// Returns Kueue's defaults when `path` is empty. Logs a warning for settings without effect. An error names the file,
// or --config.
Result<api::config::Configuration> read_configuration_file(const std::string& path,
                                                           std::string_view own_namespace = "kueue-system");

}  // namespace berth::cli
