// Interned strings (label keys and values, host and node names) with reference counts: a text is stored once, however
// many nodes use it, and removed when none does.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/quota/ids.h"

namespace berth::engine::topology {

using StringId = Id<struct StringTag>;

class StringPool {
 public:
  StringPool() = default;
  StringPool(const StringPool& other);
  StringPool& operator=(const StringPool&) = delete;

  StringId acquire(std::string_view text);     // adds a reference
  StringId find(std::string_view text) const;  // invalid when the text is not in use
  void acquire_again(StringId id) { ++slots_[id.index()].users; }
  void release(StringId id);  // the id may be reused for another text afterwards
  const std::string& operator[](StringId id) const { return slots_[id.index()].text; }
  std::size_t size() const { return slots_.size(); }        // ids are smaller
  std::uint64_t generation() const { return generation_; }  // changes when an id was freed

 private:
  struct Slot {
    std::string text;
    std::uint32_t users = 0;
  };
  std::deque<Slot> slots_;  // a deque: the keys of ids_ point into it
  std::vector<StringId> free_;
  boost::unordered_flat_map<std::string_view, StringId> ids_;  // Looked up, never iterated.
  std::uint64_t generation_ = 0;
};

}  // namespace berth::engine::topology
