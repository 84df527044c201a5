// Compares an object with a partial expectation: only the members that the expectation names are compared.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace berth::simulate {

// Returns each difference as one sentence with its path. Empty when `actual` has everything that `expected` names.
//  - objects: each named member must match; null means that the member must be absent;
//  - lists whose expected entries all have a "type", or all a "name": entries are matched by it and other entries
//    are allowed; an entry with absent: true must not exist;
//  - other lists: same length, compared entry by entry;
//  - a string between slashes, "/cpu .* needed/", is a regular expression that must match somewhere in the value.
std::vector<std::string> differences(const Json& expected, const Json& actual, const std::string& path);

}  // namespace berth::simulate
