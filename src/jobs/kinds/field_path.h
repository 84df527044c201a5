// The place of a value in an object: names of members and indices of lists.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::jobs::kinds {

using Place = std::vector<std::variant<std::string, std::size_t>>;

// A path of names only, as descriptions write it: "spec.runPolicy.suspend". A dot in a name is escaped: "a\.b".
using Path = std::vector<std::string>;
// Fails on empty names and when it has more than kMaxSteps.
Result<Path> parse_path(std::string_view text);
constexpr std::size_t kMaxSteps = 32;

// A place as API errors write it: "spec.replicatedJobs[0].template".
std::string to_string(const Place& place);
Place operator+(Place place, const Path& path);
Place operator+(Place place, std::size_t index);

// Null when a step finds nothing.
const Json* value_at(const Json& object, const Place& place);
const Json* value_at(const Json& object, const Path& path);
// Members that are missing are added, and members that are no objects are replaced. Null when an index is out of range.
Json* ensure_at(Json& object, const Place& place);
Json& ensure_at(Json& object, const Path& path);
// Removes the member at the path below the place, if it is there.
void erase_at(Json& object, const Place& place);

}  // namespace berth::jobs::kinds
