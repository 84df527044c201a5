#include "conformance/site.h"

#include <utility>

#include "api/status.h"

namespace berth::conformance {
namespace {

Result<Json> body_of(api::RestResponse response) {
  if (response.ok()) return std::move(response.body);
  const auto message = api::status_message(response);
  return fail(message.empty() ? "the server answered " + std::to_string(response.code)
                              : std::string(message));
}

}  // namespace

Result<Json> Site::create(Json object) {
  auto request = request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}),
                             string_at(object, {"metadata", "namespace"}), {});
  if (!request) return tl::unexpected(request.error());
  request->verb = api::Verb::kCreate;
  request->field_validation = api::FieldValidation::kStrict;
  request->body = std::move(object);
  return body_of(call(std::move(*request)));
}

Result<Json> Site::get(std::string_view api_version, std::string_view kind, std::string_view ns,
                       std::string_view name) {
  auto request = request_for(api_version, kind, ns, name);
  if (!request) return tl::unexpected(request.error());
  request->verb = api::Verb::kGet;
  return body_of(call(std::move(*request)));
}

}  // namespace berth::conformance
