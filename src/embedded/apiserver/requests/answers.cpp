#include "embedded/apiserver/requests/answers.h"

#include <charconv>
#include <utility>

namespace berth::apiserver {

api::RestResponse ok(Json body, int code) {
  api::RestResponse response;
  response.code = code;
  response.body = std::move(body);
  return response;
}

api::RestResponse failure(int code, std::string_view reason, std::string_view message, Json details) {
  return ok(api::make_status(code, reason, message, std::move(details)), code);
}

api::RestResponse success(int code, Json details) {
  JsonObject status{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", JsonObject{}}, {"status", "Success"}};
  if (!details.is_null()) status["details"] = std::move(details);
  if (code != 200) status["code"] = code;
  return ok(std::move(status), code);
}

api::RestResponse not_served() {
  return failure(404, "NotFound", "the server could not find the requested resource", JsonObject{});
}

api::RestResponse not_allowed(std::string_view verb) {
  return failure(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource: " + std::string(verb), JsonObject{});
}

api::RestResponse invalid_options(std::string_view kind, const api::FieldErrors& errors) {
  return api::invalid("meta.k8s.io", kind, "", errors);
}

api::RestResponse invalid_object(const ResourceInfo& resource, std::string_view name, const api::FieldErrors& errors) {
  const bool event = resource.gvr.group == "events.k8s.io";
  return api::invalid(event ? std::string_view{} : std::string_view(resource.gvr.group), resource.kind, name, errors);
}

api::RestResponse modified(const ResourceInfo& resource, std::string_view name) {
  return api::conflict(resource.gvr, name,
                       "the object has been modified; please apply your changes to the latest version and try again");
}

api::RestResponse refused(const ResourceInfo& resource, std::string_view name, WriteError error,
                          const ObjectStore& store) {
  switch (error) {
    case WriteError::kConflict:
      return modified(resource, name);
    case WriteError::kOverloaded:
      return failure(429, "TooManyRequests",
                     "the server has received too many requests and has asked us to try again later",
                     JsonObject{{"retryAfterSeconds", 1}});
    case WriteError::kStopped:
      break;
  }
  return failure(503, "ServiceUnavailable", "nothing can be written at present: " + store.failure(),
                 JsonObject{{"retryAfterSeconds", 1}});
}

// No retryAfterSeconds: clients would repeat a write that may have happened.
api::RestResponse not_confirmed(std::string_view why) {
  return failure(
      504, "Timeout",
      "the request is not confirmed, and may take effect now or later; read the object before you try again: " +
          std::string(why));
}

bool is_busy(const api::RestResponse& response) { return response.code == 429 || response.code == 503; }

api::RestResponse version_too_large(Revision wanted, Revision current) {
  Json details = JsonObject{{"causes", JsonArray{JsonObject{{"reason", "ResourceVersionTooLarge"},
                                                            {"message", "Too large resource version"}}}},
                            {"retryAfterSeconds", 1}};
  return failure(
      504, "Timeout",
      "Timeout: Too large resource version: " + std::to_string(wanted) + ", current: " + std::to_string(current),
      std::move(details));
}

api::RestResponse expired(std::string_view message, std::string_view continue_token) {
  auto response = failure(410, "Expired", message);
  if (!continue_token.empty()) ensure_path(response.body, {"metadata", "continue"}) = continue_token;
  return response;
}

Result<Revision> parse_revision(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string start = "resourceVersion: Invalid value: \"" + std::string(text) +
                            "\": strconv.ParseUint: parsing \"" + std::string(text) + "\": ";
  if (error == std::errc::result_out_of_range) return fail(start + "value out of range");
  if (error != std::errc() || end != text.data() + text.size()) return fail(start + "invalid syntax");
  // A larger value is greater than any existing revision, so clamping it still gives the error for a future version.
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<Revision>::max());
  return static_cast<Revision>(std::min(value, kMax));
}

}  // namespace berth::apiserver
