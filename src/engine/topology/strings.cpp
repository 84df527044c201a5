// Interned strings with reference counts.
#include "engine/topology/strings.h"

#include "engine/quota/free_list.h"

namespace berth::engine::topology {

StringPool::StringPool(const StringPool& other)
    : slots_(other.slots_), free_(other.free_), generation_(other.generation_) {
  ids_.reserve(other.ids_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].users > 0) ids_.emplace(slots_[i].text, StringId(i));
  }
}

StringId StringPool::acquire(std::string_view text) {
  if (auto it = ids_.find(text); it != ids_.end()) {
    ++slots_[it->second.index()].users;
    return it->second;
  }
  const StringId id = free_slot(slots_, free_);
  Slot& slot = slots_[id.index()];
  slot.text = text;
  slot.users = 1;
  ids_.emplace(slot.text, id);
  return id;
}

StringId StringPool::find(std::string_view text) const {
  auto it = ids_.find(text);
  return it == ids_.end() ? StringId() : it->second;
}

void StringPool::release(StringId id) {
  Slot& slot = slots_[id.index()];
  if (--slot.users > 0) return;
  ids_.erase(slot.text);
  slot.text = std::string();
  free_.push_back(id);
  ++generation_;
}

}  // namespace berth::engine::topology
