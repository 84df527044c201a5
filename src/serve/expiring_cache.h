// A bounded cache whose entries expire. When it is full, put() drops the entry that was put in first.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/time.h"

namespace berth::serve {

template <typename Key, typename Value>
class ExpiringCache {
 public:
  explicit ExpiringCache(std::size_t max_entries) : max_(max_entries) {}

  const Value* find(const Key& key, Time now) const {
    const auto it = entries_.find(key);
    return it == entries_.end() || it->second.until <= now ? nullptr : &it->second.value;
  }

  void put(const Key& key, Value value, Time until) {
    if (const auto it = entries_.find(key); it != entries_.end()) {
      order_.erase(it->second.number);
      entries_.erase(it);
    } else if (entries_.size() >= max_) {
      entries_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    order_.emplace(++last_, key);
    entries_.emplace(key, Entry{std::move(value), until, last_});
  }

  void clear() {
    entries_.clear();
    order_.clear();
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Value value;
    Time until;
    std::uint64_t number;
  };
  std::size_t max_;
  std::uint64_t last_ = 0;
  std::map<Key, Entry> entries_;
  std::map<std::uint64_t, Key> order_;
};

}  // namespace berth::serve
