// The resourceVersions of one server are comparable as numbers (KEP-5504).
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace berth::api {

// 0 when the text is not a number.
inline std::uint64_t version_number(std::string_view resource_version) {
  std::uint64_t value = 0;
  const char* last = resource_version.data() + resource_version.size();
  const auto [end, error] = std::from_chars(resource_version.data(), last, value);
  return error == std::errc{} && end == last ? value : 0;
}

}  // namespace berth::api
