// The parts of a URL that a connection needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::kube {

struct Endpoint {
  std::string scheme, user_info, host, path;  // host without the brackets of an IPv6 address; path without a slash at the end
  std::uint16_t port = 0;
};

// "https://[::1]:6443/prefix". Without a port: that of the scheme (http, https). Errors name the URL.
Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace berth::kube
