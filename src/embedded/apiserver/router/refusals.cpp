#include "embedded/apiserver/router/refusals.h"

#include "api/status.h"
#include "http/target.h"

namespace berth::apiserver::http {
namespace {

using api::RestResponse;

constexpr std::string_view kAnswerTypes = "application/json, application/yaml";

}  // namespace

RestResponse unknown_resource() {
  return {404, api::make_status(404, "NotFound", "the server could not find the requested resource", JsonObject{}), {}};
}

RestResponse unauthorized(const std::string& why) {
  const std::string message = why.empty() ? "Unauthorized" : "Unauthorized: client certificate: " + why;
  return {401, api::make_status(401, "Unauthorized", message), {}};
}

RestResponse target_too_long() {
  const std::string limit = std::to_string(berth::http::kMaxTargetBytes);
  return {414,
          api::make_status(414, "RequestURITooLong", "the request path and query are longer than " + limit + " bytes"),
          {}};
}

RestResponse method_not_allowed() {
  return {405,
          api::make_status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource",
                           JsonObject{}),
          {}};
}

RestResponse not_acceptable() {
  return {
      406,
      api::make_status(406, "NotAcceptable",
                       "406: Not Acceptable\n\nAvailable representations: " + std::string(kAnswerTypes), JsonObject{}),
      {}};
}

RestResponse unsupported_patch() {
  return {415, api::make_status(415, "UnsupportedMediaType", "415: Unsupported Media Type", JsonObject{}), {}};
}

}  // namespace berth::apiserver::http
