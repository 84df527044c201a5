// JSON patches that turn one document into another. https://www.rfc-editor.org/rfc/rfc6902
#pragma once

#include "base/json.h"

namespace berth {

// Returns the operations that turn `from` into `to`, in the order in which they apply; an empty array when both are
// equal. Objects are compared member by member, so a patch names only what differs. In arrays, equal elements at the
// start and at the end stay; the elements between are compared one by one.
Json make_json_patch(const Json& from, const Json& to);

}  // namespace berth
