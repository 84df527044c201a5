// How failed patches and conflicts of apply are told.
#pragma once

#include <string>
#include <vector>

#include "api/rest.h"
#include "apiserver/patch/patch.h"

namespace berth::apiserver {

api::RestResponse patch_failed(const PatchError& error);
// 409: "Apply failed with 1 conflict: ..." with one cause per field.
api::RestResponse apply_conflict(const std::vector<ApplyConflict>& conflicts);
// What Go's JSON decoder calls a value: "object", "array", "string", "number", "bool".
std::string go_type(const Json& value);

}  // namespace berth::apiserver
