// The hooks that a description may name.
#pragma once

#include <string>
#include <string_view>

#include "jobs/kinds/hook.h"

namespace berth::jobs::kinds {

// Null when there is no hook of this name.
const KindHook* find_hook(std::string_view name);
std::string hook_names();  // "none" when there are none, else "a, b"

}  // namespace berth::jobs::kinds
