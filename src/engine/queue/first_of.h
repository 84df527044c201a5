// A heap of values in one array: only the first of them is asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace berth::engine {

// `before(a, b)`: a comes out before b; a total order. Values are unique. To add a value, and to remove or replace the
// first one, takes O(log n); to remove or replace another one O(n).
template <typename Value, typename Before>
class FirstOf {
 public:
  explicit FirstOf(Before before) : before_(std::move(before)) {}
  // A copy with an order of its own, which must order the values as the other's does.
  FirstOf(const FirstOf& other, Before before) : before_(std::move(before)), values_(other.values_) {}

  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  const Value& first() const { return values_.front(); }  // it must not be empty
  bool contains(const Value& value) const { return find(value) < values_.size(); }

  void add(const Value& value) {
    values_.push_back(value);
    rise(value, values_.size() - 1);
  }
  // The value must be there.
  void remove(const Value& value) {
    const std::size_t at = find(value);
    const Value last = values_.back();
    values_.pop_back();
    if (at < values_.size()) put(last, at);
  }
  void replace(const Value& value, const Value& by) { put(by, find(value)); }

 private:
  static std::size_t above(std::size_t at) { return (at - 1) / 2; }

  std::size_t find(const Value& value) const {
    return static_cast<std::size_t>(std::find(values_.begin(), values_.end(), value) - values_.begin());
  }
  // Instead of the value at this place.
  void put(const Value value, std::size_t at) {
    if (at > 0 && before_(value, values_[above(at)])) return rise(value, at);
    for (std::size_t below = 2 * at + 1; below < values_.size(); below = 2 * at + 1) {
      if (below + 1 < values_.size() && before_(values_[below + 1], values_[below])) ++below;
      if (!before_(values_[below], value)) break;
      values_[at] = values_[below];
      at = below;
    }
    values_[at] = value;
  }
  void rise(const Value value, std::size_t at) {
    for (; at > 0 && before_(value, values_[above(at)]); at = above(at)) values_[at] = values_[above(at)];
    values_[at] = value;
  }

  Before before_;
  std::vector<Value> values_;
};

}  // namespace berth::engine
