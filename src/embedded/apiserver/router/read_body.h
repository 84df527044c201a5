// The body and the options of a request about a resource.
#pragma once

#include <optional>

#include "api/rest.h"
#include "embedded/apiserver/resource.h"
#include "embedded/apiserver/router/parsed_request.h"

namespace berth::apiserver::http {

// Writes the body and the options of `in` to `request`, whose verb is set. Returns the refusal if there is an error.
// Errors are checked in kube-apiserver's order: size, type, options, content.
std::optional<api::RestResponse> read_body(const ParsedRequest& in, const ResourceInfo& info,
                                           api::RestRequest& request);

}  // namespace berth::apiserver::http
