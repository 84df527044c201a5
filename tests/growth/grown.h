// Objects of a kind in which every list and map of its schema has the same number of entries, so that whatever work is
// done for a list or map grows with that number. They come from the schema, so a new field is covered at once.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"
#include "embedded/apiserver/resource.h"

namespace berth::growth {

// What the entries are like. All of them are there to reach another branch: entries that are found, that are not, that
// are refused.
enum class Entries {
  kDistinct,  // all different, in order
  kReversed,  // the same in reverse order, with other values
  kOthers,    // all different, and different from those of kDistinct
  kEqual,     // all alike
  kEmpty,     // objects without members, empty texts
  kNull,      // null, but for the first
};

struct Growth {
  std::size_t size = 1;  // the entries of a list or map
  Entries entries = Entries::kDistinct;
  bool within_limits = true;  // not more entries than the schema allows
};

// Only the first entry of a list or map contains lists and maps itself, so the object grows as `size`.
Json grow(const apiserver::ResourceInfo& resource, const Growth& growth);

// Adds as many members that no schema knows to each object that the schema describes.
void add_strangers(Json& object, std::size_t size);

}  // namespace berth::growth
