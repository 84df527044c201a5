// Reuse of slots in tables whose entries are referred to by id.
#pragma once

#include <vector>

namespace berth::engine {

// Returns a free slot, or a new one at the end. A reused slot still has the content that its last user left.
template <typename IdType, typename Slots>  // Slots: a vector or a deque
IdType free_slot(Slots& slots, std::vector<IdType>& free) {
  if (free.empty()) {
    slots.emplace_back();
    return IdType(slots.size() - 1);
  }
  const IdType id = free.back();
  free.pop_back();
  return id;
}

}  // namespace berth::engine
