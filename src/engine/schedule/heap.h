// A heap in a vector of which only the top changes. `later(a, b)`: a comes out of the heap after b.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace berth::engine {

// Restores the order after the top was replaced.
template <typename T, typename Later>
void sift_down(std::vector<T>& heap, Later later) {
  std::size_t at = 0;
  T moving = std::move(heap.front());
  for (std::size_t child = 1; child < heap.size(); child = 2 * at + 1) {
    if (child + 1 < heap.size() && later(heap[child], heap[child + 1])) ++child;
    if (!later(moving, heap[child])) break;
    heap[at] = std::move(heap[child]);
    at = child;
  }
  heap[at] = std::move(moving);
}

template <typename T, typename Later>
void drop_top(std::vector<T>& heap, Later later) {
  if (heap.size() > 1) heap.front() = std::move(heap.back());
  heap.pop_back();
  if (!heap.empty()) sift_down(heap, later);
}

}  // namespace berth::engine
