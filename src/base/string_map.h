// A hash map with strings as keys, which takes views to look up. Keys of objects ("namespace/name") have long common
// beginnings and there are many: an ordered map compares a dozen of them per lookup, each in memory of its own.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace berth {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Its order says nothing. Where order matters, go through sorted_keys().
template <typename T>
using StringMap = std::unordered_map<std::string, T, StringHash, std::equal_to<>>;

template <typename T>
std::vector<std::string> sorted_keys(const StringMap<T>& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& entry : map) keys.push_back(entry.first);
  std::ranges::sort(keys);
  return keys;
}

}  // namespace berth
