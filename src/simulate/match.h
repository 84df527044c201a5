// Does an object look as expected? Expectations are partial: only what they name is compared.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace berth::simulate {

// Every difference as one sentence with its path; empty when `actual` has all that `expected` names.
//  - objects: each named member must match; null means that the member is absent;
//  - lists whose expected members have a "type" or a "name": matched by it, others may be there too; one with absent: true
//    must not be there;
//  - other lists: same length, member by member;
//  - a string between slashes, "/cpu .* needed/", is a pattern that must be found.
std::vector<std::string> differences(const Json& expected, const Json& actual, const std::string& path);

}  // namespace berth::simulate
