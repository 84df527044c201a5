#include "http/listen_address.h"

#include <charconv>

namespace berth::http {

Result<ListenAddress> parse_listen_address(std::string_view flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  ListenAddress endpoint;
  unsigned port = 0;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec == std::errc() && parsed.ptr == end && port <= 65535) {
      endpoint.port = static_cast<std::uint16_t>(port);
      endpoint.address = text.substr(0, colon);
      if (endpoint.address.empty()) endpoint.address = "0.0.0.0";
      if (endpoint.address == "localhost") endpoint.address = "127.0.0.1";
      if (endpoint.address.front() == '[' && endpoint.address.back() == ']') {
        endpoint.address = endpoint.address.substr(1, endpoint.address.size() - 2);
      }
      return endpoint;
    }
  }
  return fail(std::string(flag) + " " + text + ": expected ADDRESS:PORT, such as 127.0.0.1:7443");
}

}  // namespace berth::http
