// Who is behind a proxy: the address that X-Forwarded-For names. Anybody can send this header, so it counts only as far
// as addresses of trusted proxies vouch for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace berth::console {

// Bound: addresses that are read in the headers of one request.
inline constexpr std::size_t kMaxHops = 32;

class TrustedProxies {
 public:
  // Each is an address or a range: 10.1.2.3, 10.0.0.0/8, fd00::/8. The error names the one that is neither.
  static Result<TrustedProxies> parse(const std::vector<std::string>& ranges);

  // The address of the client: that of the connection if it is not a trusted proxy's, else the last address in
  // X-Forwarded-For that is not one. A word that is no address ends the search: then it is the last proxy's. From any
  // thread.
  std::string client_of(const http::HttpRequest& request) const;

 private:
  // IPv4 addresses are as IPv6 has them: ::ffff:10.1.2.3.
  using Address = std::array<std::uint8_t, 16>;
  struct Range {
    Address first;
    unsigned bits;
  };
  static bool read(std::string_view text, Address& out);
  bool trusted(const Address& address) const;

  std::vector<Range> ranges_;
};

}  // namespace berth::console
