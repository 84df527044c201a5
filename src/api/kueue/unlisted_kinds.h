// Objects with a queue name that run without quota, because the Configuration does not list their kind. The user is
// told.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::api::kueue {

// The warning about an object of a kind that Berth can manage and whose framework the Configuration does not list. Only
// for an object that gets its queue name now: `old` is null on creation. Else "".
std::string unlisted_kind_warning(const Json& object, const Json* old, std::string_view kind,
                                  std::string_view framework);

}  // namespace berth::api::kueue
