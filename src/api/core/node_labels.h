// Labels of nodes.
// https://kubernetes.io/docs/reference/labels-annotations-taints/
#pragma once

#include <string_view>

namespace berth::api {

inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

}  // namespace berth::api
