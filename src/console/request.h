// A request to the console, checked before it reaches any state. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "console/proxies.h"
#include "http/handler.h"
#include "http/target.h"

namespace berth::console {

inline constexpr std::string_view kCookie = "berth_session";
// Bounds of bodies: a token as JSON; a change.
inline constexpr std::size_t kMaxLoginBody = 16 * 1024, kMaxChangeBody = 64 * 1024;
inline constexpr std::string_view kLoginPath = "/api/login", kLogoutPath = "/api/logout", kChangesPath = "/api/changes",
                                  kTryPath = "/api/try";
inline constexpr std::string_view kOwnHeader = "X-Berth-Console";  // a page of another site cannot set it unasked

struct ConsoleRequest final : http::Handler::Parsed {
  using Parsed::Parsed;
  std::string method, cookie;
  std::string peer_address;  // of the client, also behind a trusted proxy
  http::Target target;
  bool gzip = false;
  std::optional<http::HttpResponse> refused;  // the answer, when the request is not acceptable
  bool api() const { return !target.segments.empty() && target.segments.front() == "api"; }
};

// From any thread. The body comes later.
std::unique_ptr<ConsoleRequest> read_request(http::HttpRequest head, const TrustedProxies& proxies = {});

// The value of Set-Cookie that stores a session's cookie; an empty value removes it.
std::string set_cookie(std::string_view value);

}  // namespace berth::console
