// The parts of a URL that a connection needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::kube {

struct Endpoint {
  // host without the brackets of an IPv6 address; path without a slash at the end
  std::string scheme, user_info, host, path;
  std::uint16_t port = 0;
};

// Parses "https://[::1]:6443/prefix". The default port is that of the scheme (http 80, https 443). Errors name the
// URL.
Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace berth::kube
