#include "console/replies.h"

#include <utility>

namespace berth::console {
namespace {

// Nothing but the console's own files and its own server: no inline script or style, no frame, no form, no other host.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr const char* kJsonType = "application/json";

std::string_view reason_of_status(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 409:
      return "Conflict";
    case 413:
      return "RequestEntityTooLarge";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    default:
      return "InternalError";
  }
}

}  // namespace

std::vector<http::Header> common_headers() {
  return {{"Content-Security-Policy", kPolicy},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"X-Frame-Options", "DENY"}};
}

http::HttpResponse reply(int status, std::string type, std::string body) {
  http::HttpResponse out;
  out.status = status;
  out.headers = common_headers();
  out.headers.push_back({"Content-Type", std::move(type)});
  out.headers.push_back({"Cache-Control", "no-store"});
  out.body = std::move(body);
  return out;
}

http::HttpResponse json_reply(const Json& document) { return reply(200, kJsonType, to_string(document)); }

http::HttpResponse no_content() {
  http::HttpResponse out;
  out.status = 204;
  out.headers = common_headers();
  out.headers.push_back({"Cache-Control", "no-store"});
  return out;
}

http::HttpResponse refusal(int status, std::string_view message) {
  http::HttpResponse out =
      reply(status, kJsonType, to_string(JsonObject{{"message", message}, {"reason", reason_of_status(status)}}));
  if (status == 429) out.headers.push_back({"Retry-After", "5"});
  return out;
}

}  // namespace berth::console
