// Which of some names is meant by a name that does not exist.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

// How many characters to insert, remove or replace (ASCII, whatever the case) to get from one name to the other. Takes
// time in proportion to the product of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name with the smallest distance, the first of several; "" if none is near: at most a third of the characters may
// differ, or one is the beginning of the other. Names of more than 200 characters are like no other.
std::string_view most_similar(std::string_view name, std::span<const std::string_view> known);

// At most `most` of the names, the nearest first; of equal distances the first by name. For lists of what there is.
std::vector<std::string> nearest_first(std::string_view name, std::vector<std::string> known, std::size_t most);

}  // namespace berth
