// Names of integrations.frameworks.
#pragma once

#include <string_view>

namespace berth::api::config {

// Whether Kueue has a framework of this name.
bool is_framework(std::string_view name);

}  // namespace berth::api::config
