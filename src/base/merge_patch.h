// JSON merge patches. https://www.rfc-editor.org/rfc/rfc7396
#pragma once

#include "base/json.h"

namespace berth {

Json apply_merge_patch(const Json& object, const Json& patch);
// Returns the smallest patch that turns `from` into `to`: null removes a member. An empty object when both are equal.
Json make_merge_patch(const Json& from, const Json& to);

}  // namespace berth
