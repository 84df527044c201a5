// Reading documents that people write: which members there may be, and errors that name the place.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/json.h"

namespace berth::simulate {

// Fails when `value` is no mapping or has a member that is not `known`; the error lists those that are.
Result<void> known_members(const Json& value, std::string_view path,
                           std::initializer_list<std::string_view> known);

}  // namespace berth::simulate
