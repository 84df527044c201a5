// Where the server is, and how to reach it.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace berth::kube {

inline constexpr Duration kConnectTimeout = std::chrono::seconds(10);  // address, connection and handshake together

struct TransportOptions {
  std::string host;
  std::uint16_t port = 443;
  std::string server_name;  // what the server's certificate must name; empty: the host
  std::string proxy_host;   // an HTTP proxy that is asked to CONNECT; empty: none
  std::uint16_t proxy_port = 0;
  std::string proxy_authorization;  // value of Proxy-Authorization; empty: none
  bool http2 = true;                // offer HTTP/2 to the server, besides HTTP/1.1
  // While requests are open, an HTTP/2 connection is asked for a sign of life (PING) after `ping_after` without bytes
  // from the server. It is closed when nothing comes within `ping_timeout`.
  Duration ping_after = std::chrono::seconds(5), ping_timeout = std::chrono::seconds(10);
};

}  // namespace berth::kube
