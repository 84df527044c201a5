#include "embedded/simulate/members.h"

#include <algorithm>
#include <string>

namespace berth::simulate {

Result<void> known_members(const Json& value, std::string_view path, std::initializer_list<std::string_view> known) {
  if (!value.is_object()) return fail(std::string(path) + ": expected a mapping");
  for (const auto& [key, member] : value.as_object()) {
    if (std::find(known.begin(), known.end(), std::string_view(key)) != known.end()) continue;
    std::string expected;
    for (const auto name : known) expected.append(expected.empty() ? "" : ", ").append(name);
    return fail(std::string(path) + ": unknown field \"" + std::string(key) + "\"; expected one of: " + expected);
  }
  return {};
}

}  // namespace berth::simulate
