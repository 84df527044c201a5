// Checks hand-written documents: which members are allowed. Errors name the place in the document.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/json.h"

namespace berth::simulate {

// Fails when `value` is not a mapping or has a member that is not in `known`. The error lists the allowed members.
Result<void> known_members(const Json& value, std::string_view path, std::initializer_list<std::string_view> known);

}  // namespace berth::simulate
