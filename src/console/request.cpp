#include "console/request.h"

#include <algorithm>
#include <utility>

#include "console/replies.h"

namespace berth::console {
namespace {

constexpr std::size_t kMaxCookieBytes = 128;

// The value of a cookie in one header; nullopt when absent.
std::optional<std::string> cookie_in(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (!pair.starts_with(name) || pair.substr(name.size(), 1) != "=") continue;
    pair.remove_prefix(name.size() + 1);
    return pair.size() <= kMaxCookieBytes ? std::string(pair) : std::string();  // ours are never longer
  }
  return std::nullopt;
}

// HTTP/2 may send one header for each cookie.
std::string cookie_of(const http::HttpRequest& request, std::string_view name) {
  for (const http::Header& header : request.headers) {
    if (header.name != "cookie" && header.name != "Cookie") continue;
    if (auto value = cookie_in(header.value, name)) return *value;
  }
  return {};
}

// Whether the value of Origin names the host that the request went to. The scheme may differ: TLS may end in front.
bool same_origin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (origin.starts_with(scheme)) return !host.empty() && origin.substr(scheme.size()) == host;
  }
  return false;
}

// Why a request for /api comes from another site; nullopt when it does not.
std::optional<http::HttpResponse> foreign(const http::HttpRequest& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  const std::string_view origin = request.header("Origin");
  if (!site.empty() && site != "same-origin" && (site != "none" || request.method != "GET"))
    return refusal(403, "requests of other sites are refused");
  if (!origin.empty() && !same_origin(origin, request.header("Host")))
    return refusal(403, "requests of other sites are refused");
  if (request.method != "GET" && request.header(kOwnHeader) != "1")
    return refusal(403, "the header " + std::string(kOwnHeader) + ": 1 is missing");
  return std::nullopt;
}

std::optional<http::HttpResponse> refuse_request(const http::HttpRequest& request, const ConsoleRequest& read) {
  if (!read.api()) {
    if (request.method != "GET" && request.method != "HEAD") return refusal(405, "pages are only read");
    return std::nullopt;
  }
  if (request.method != "GET" && request.method != "POST") return refusal(405, "only GET and POST are possible here");
  return foreign(request);
}

// Only these requests have a body.
std::size_t max_body_of(const ConsoleRequest& read) {
  if (read.method != "POST") return 0;
  if (read.target.path == kLoginPath) return kMaxLoginBody;
  return read.target.path == kChangesPath || read.target.path == kTryPath ? kMaxChangeBody : 0;
}

}  // namespace

std::unique_ptr<ConsoleRequest> read_request(http::HttpRequest head, const TrustedProxies& proxies) {
  auto read = std::make_unique<ConsoleRequest>(std::move(head));
  const http::HttpRequest& request = read->http;
  read->max_body = 0;
  read->requests = true;
  if (request.target.size() > http::kMaxTargetBytes) {
    read->refused = refusal(400, "the request's target is too long");
    return read;
  }
  auto target = http::parse_target(request.target);
  if (!target) {
    read->refused = refusal(400, target.error().message);
    return read;
  }
  read->target = std::move(*target);
  read->method = request.method;
  read->cookie = cookie_of(request, kCookie);
  read->peer_address = proxies.client_of(request);
  read->gzip = request.header("Accept-Encoding").find("gzip") != std::string_view::npos;
  read->refused = refuse_request(request, *read);
  if (!read->refused) read->max_body = max_body_of(*read);
  return read;
}

std::string set_cookie(std::string_view value) {
  const std::string life = value.empty() ? "; Max-Age=0" : "";
  return std::string(kCookie) + "=" + std::string(value) + "; Path=/; HttpOnly; Secure; SameSite=Strict" + life;
}

}  // namespace berth::console
