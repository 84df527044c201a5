#include "kube/endpoint.h"

#include <boost/url/parse.hpp>

namespace berth::kube {

Result<Endpoint> parse_endpoint(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(boost::core::string_view(url.data(), url.size()));
  const auto wrong = [&](std::string_view why) {
    return fail("the URL " + std::string(url) + ": " + std::string(why));
  };
  if (parsed.has_error() || parsed->host().empty()) return wrong("expected https://HOST[:PORT]");
  Endpoint out;
  out.scheme = parsed->scheme();
  if (out.scheme != "http" && out.scheme != "https") return wrong("expected the scheme https");
  out.user_info = parsed->userinfo();
  out.host = parsed->host_type() == boost::urls::host_type::ipv6 ? std::string(parsed->host_ipv6_address().to_string())
                                                                 : parsed->host_address();
  out.port = out.scheme == "https" ? 443 : 80;
  if (parsed->has_port()) {
    if (parsed->port_number() == 0) return wrong("the port must be 1 to 65535");
    out.port = parsed->port_number();
  }
  out.path = parsed->encoded_path();
  while (out.path.ends_with('/')) out.path.pop_back();
  return out;
}

}  // namespace berth::kube
