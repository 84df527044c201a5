// What the log says when the API server refuses requests for lack of rights.
#pragma once

#include <string_view>

namespace berth::kube {

// What the administrator must do.
inline constexpr std::string_view kGrantRights = "bind Berth's user to the roles of config/install/berth.yaml";

}  // namespace berth::kube
