// A heap whose items know their places in it, so that any of them may change, and not only the first.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace berth::engine {

// Items are owned by somebody else, and must stay where they are while they are in the heap; their member `place` is
// the heap's. `before(a, b)`: a comes out of the heap before b; a total order.
template <typename Item, typename Before>
class PlacedHeap {
 public:
  explicit PlacedHeap(Before before) : before_(std::move(before)) {}
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  const Item& first() const { return *items_.front(); }  // it must not be empty
  bool contains(const Item& item) const { return item.place < items_.size() && items_[item.place] == &item; }

  void add(Item& item) {
    items_.push_back(&item);
    rise(item, items_.size() - 1);
  }
  void remove(Item& item) {
    Item& last = *items_.back();
    items_.pop_back();
    if (&last == &item) return;
    put(last, item.place);
    settle(last);
  }
  // The item has changed.
  void settle(Item& item) {
    if (item.place > 0 && before_(item, *items_[above(item.place)])) return rise(item, item.place);
    sink(item, item.place);
  }

  // Items of another heap were copied, with their places. This heap becomes a copy of that one: afterwards put() each
  // of them.
  void expect(std::size_t size) { items_.resize(size); }
  void put(Item& item, std::size_t place) {
    items_[place] = &item;
    item.place = place;
  }

  // Whether no item comes before the one above it.
  bool in_order() const {
    for (std::size_t i = 1; i < items_.size(); ++i) {
      if (before_(*items_[i], *items_[above(i)])) return false;
    }
    return true;
  }

 private:
  static std::size_t above(std::size_t place) { return (place - 1) / 2; }

  void rise(Item& item, std::size_t place) {
    for (; place > 0 && before_(item, *items_[above(place)]); place = above(place)) put(*items_[above(place)], place);
    put(item, place);
  }
  // `begin`: where the item is.
  void sink(Item& item, const std::size_t begin) {
    std::size_t place = begin;
    for (std::size_t below = 2 * place + 1; below < items_.size(); below = 2 * place + 1) {
      if (below + 1 < items_.size() && before_(*items_[below + 1], *items_[below])) ++below;
      if (!before_(*items_[below], item)) break;
      put(*items_[below], place);
      place = below;
    }
    if (place != begin) put(item, place);
  }

  Before before_;
  std::vector<Item*> items_;
};

}  // namespace berth::engine
