// Slots that are used again: what tables of counted entries have in common.
#pragma once

#include <vector>

namespace berth::engine {

// A slot that nobody uses: one that was given back, else a new one. A slot given back is as its last user left it.
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
