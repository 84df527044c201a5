// The address on which a server listens, as users write it in flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::http {

struct ListenAddress {
  std::string address;  // an IP address
  std::uint16_t port = 0;
};
// Parses the value of a flag: "127.0.0.1:7443", ":7443" (all IPv4 addresses), "localhost:0", "[::1]:7443". The error
// names the flag.
Result<ListenAddress> parse_listen_address(std::string_view flag, const std::string& text);

}  // namespace berth::http
