// The responses for failed patches and apply conflicts.
#pragma once

#include <string>
#include <vector>

#include "api/rest.h"
#include "embedded/apiserver/patch/patch.h"

namespace berth::apiserver {

api::RestResponse patch_failed(const PatchError& error);
// 409: "Apply failed with 1 conflict: ..." with one cause per field.
api::RestResponse apply_conflict(const std::vector<ApplyConflict>& conflicts);
// The name of a value's type in Go's JSON decoder: "object", "array", "string", "number", "bool".
std::string go_type(const Json& value);

}  // namespace berth::apiserver
