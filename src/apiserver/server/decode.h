// From what a client sent to an object in its kind's normal form: types checked, unknown fields found,
// defaults filled.
#pragma once

#include <string>
#include <vector>

#include "api/rest.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// Checks kind and apiVersion of an object in a request (create, update) and fills them when absent from a
// built-in kind. The error is a complete answer.
tl::expected<void, api::RestResponse> check_type(const ResourceInfo& resource, Json& object);

// Checks types, prunes unknown fields, fills defaults. Unknown and duplicate fields become warnings, or the
// error when `validation` is strict. The error is the tail of `<Kind> in version "<v>" cannot be handled as a
// <Kind>: <error>`.
Result<void> decode_object(const ResourceInfo& resource, Json& object, api::FieldValidation validation,
                           const std::vector<std::string>& duplicates, std::vector<std::string>& warnings);

// 400 with that sentence.
api::RestResponse cannot_be_handled(const ResourceInfo& resource, std::string_view error);

}  // namespace berth::apiserver
