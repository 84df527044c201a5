// A vector whose copies share what they do not change: a copy costs a pointer for each block of elements, and the first
// change of an element in a shared block copies that block.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace berth {

// Not thread-safe: copies that share blocks belong to one thread.
template <typename T, std::size_t kBlock = 64>
class SharedBlocks {
 public:
  std::size_t size() const { return size_; }
  // It grows by default values, and never shrinks.
  void grow(std::size_t size) {
    if (size <= size_) return;
    size_ = size;
    while (blocks_.size() * kBlock < size) blocks_.push_back(std::make_shared<Block>());
  }

  const T& operator[](std::size_t i) const { return (*blocks_[i / kBlock])[i % kBlock]; }
  // For changes. A reference to an element of the same block that was taken before may show the former value.
  T& change(std::size_t i) {
    auto& block = blocks_[i / kBlock];
    if (block.use_count() > 1) block = std::make_shared<Block>(*block);
    return (*block)[i % kBlock];
  }

 private:
  using Block = std::array<T, kBlock>;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace berth
