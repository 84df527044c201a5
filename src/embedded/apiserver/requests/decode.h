// Converts a client's object to the normal form of its kind: checks types, finds unknown fields, fills defaults.
#pragma once

#include <string>
#include <vector>

#include "api/rest.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

// Checks kind and apiVersion of an object in a request (create, update); for built-in kinds it fills them in when
// absent. The error is a complete response.
tl::expected<void, api::RestResponse> check_type(const ResourceInfo& resource, Json& object);

// Checks types, prunes unknown fields, fills defaults. Unknown and duplicate fields become warnings, or an error when
// `validation` is strict. The error is the last part of the message `<Kind> in version "<v>" cannot be handled as a
// <Kind>: <error>`.
Result<void> decode_object(const ResourceInfo& resource, Json& object, api::FieldValidation validation,
                           const std::vector<std::string>& duplicates, std::vector<std::string>& warnings);

// The 400 response with that message.
api::RestResponse cannot_be_handled(const ResourceInfo& resource, std::string_view error);

}  // namespace berth::apiserver
