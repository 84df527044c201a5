// Answers for requests that the router refuses, as kube-apiserver words them.
#pragma once

#include <string>
#include <string_view>

#include "api/rest.h"

namespace berth::apiserver::http {

inline constexpr std::string_view kBodyTypes =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kCustomBodyTypes = "application/json, application/yaml";
inline constexpr std::string_view kCustomPatchTypes =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

api::RestResponse unknown_resource();
// `why`: what is wrong with the client certificate; "" without one.
api::RestResponse unauthorized(const std::string& why);
api::RestResponse target_too_long();
api::RestResponse method_not_allowed();
api::RestResponse not_acceptable();
api::RestResponse unsupported_patch();

}  // namespace berth::apiserver::http
