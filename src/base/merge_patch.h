// JSON merge patches. https://www.rfc-editor.org/rfc/rfc7396
#pragma once

#include "base/json.h"

namespace berth {

Json apply_merge_patch(const Json& object, const Json& patch);
// The smallest patch that makes `to` of `from`: null where a member goes away, an empty object when they are
// equal.
Json make_merge_patch(const Json& from, const Json& to);

}  // namespace berth
