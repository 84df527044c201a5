// JSON patches as answers: what to do to one document to get another. https://www.rfc-editor.org/rfc/rfc6902
#pragma once

#include "base/json.h"

namespace berth {

// The operations that make `to` of `from`, in order; an empty array when they are equal. Members are compared one by one, so only
// what differs is named; of arrays, what is equal at both ends is left alone and what remains is compared element by element.
Json make_json_patch(const Json& from, const Json& to);

}  // namespace berth
