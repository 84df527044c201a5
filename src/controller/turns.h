// Things that wait in lines. The lines take turns, so a long one does not delay the others. Each line keeps its order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "base/string_map.h"

namespace berth::controller {

template <typename T>
class Turns {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(const std::string& line, T what) {
    auto& waiting = lines_[line];
    if (waiting.empty()) order_.push_back(line);
    waiting.push_back(std::move(what));
    ++size_;
  }
  // The first one of the line whose turn it is. Not when empty().
  T pop() {
    std::string line = std::move(order_.front());
    order_.pop_front();
    const auto it = lines_.find(line);
    T what = std::move(it->second.front());
    it->second.pop_front();
    --size_;
    if (it->second.empty()) {
      lines_.erase(it);
    } else {
      order_.push_back(std::move(line));
    }
    return what;
  }
  template <typename Drop>
  void erase_if(Drop drop) {
    std::erase_if(order_, [&](const std::string& line) {
      const auto it = lines_.find(line);
      size_ -= std::erase_if(it->second, drop);
      if (!it->second.empty()) return false;
      lines_.erase(it);
      return true;
    });
  }
  void clear() {
    lines_.clear();
    order_.clear();
    size_ = 0;
  }

 private:
  StringMap<std::deque<T>> lines_;  // none is empty
  std::deque<std::string> order_;
  std::size_t size_ = 0;
};

}  // namespace berth::controller
