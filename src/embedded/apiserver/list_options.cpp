#include "embedded/apiserver/list_options.h"

#include <string_view>

namespace berth::apiserver {
namespace {

using api::FieldErrors;

void refuse(FieldErrors& errors, std::string_view why) {
  errors.push_back(api::forbidden_field("resourceVersionMatch", why));
}

FieldErrors check_list(const api::RestRequest& r) {
  FieldErrors errors;
  const std::string& match = r.resource_version_match;
  if (!match.empty()) {
    if (r.resource_version.empty())
      refuse(errors, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!r.continue_token.empty()) refuse(errors, "resourceVersionMatch is forbidden when continue is provided");
    if (match != "Exact" && match != "NotOlderThan") {
      errors.push_back(api::not_supported("resourceVersionMatch", Json(match), {"Exact", "NotOlderThan", ""}));
    }
    if (match == "Exact" && r.resource_version == "0") {
      refuse(errors, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (r.send_initial_events) {
    errors.push_back(api::forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

FieldErrors check_watch(const api::RestRequest& r) {
  FieldErrors errors;
  const std::string& match = r.resource_version_match;
  if (r.send_initial_events && match != "NotOlderThan") {
    refuse(errors, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (!match.empty()) {
    if (!r.send_initial_events) {
      refuse(errors, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (match != "NotOlderThan") {
      errors.push_back(api::not_supported("resourceVersionMatch", Json(match), {"NotOlderThan"}));
    }
    if (!r.continue_token.empty()) refuse(errors, "resourceVersionMatch is forbidden when continue is provided");
  }
  return errors;
}

}  // namespace

FieldErrors list_option_errors(const api::RestRequest& request) {
  return request.verb == api::Verb::kWatch ? check_watch(request) : check_list(request);
}

}  // namespace berth::apiserver
