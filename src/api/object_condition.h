// Conditions of an object that was not decoded. For decoded ones, see meta.h.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::api {

// The condition of this type in status.conditions, the first if there are several; nullptr when absent.
const Json* object_condition(const Json& object, std::string_view type);
// Whether the condition of this type has the status "True".
bool object_condition_is_true(const Json& object, std::string_view type);

}  // namespace berth::api
