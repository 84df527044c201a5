// The Configuration that --config names.
#pragma once

#include <string>
#include <string_view>

#include "api/config/configuration.h"
#include "base/result.h"

namespace berth::cli {

// Kueue's defaults when `path` is empty. Parts without effect are logged as warnings; errors name the file, or --config.
Result<api::config::Configuration> read_configuration_file(const std::string& path,
                                                           std::string_view own_namespace = "kueue-system");

}  // namespace berth::cli
