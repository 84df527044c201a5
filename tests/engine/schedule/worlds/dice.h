// Random numbers that are the same with every standard library.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth::engine::worlds {

class Dice {
 public:
  // The start is hashed: the generator counts on from it, so close starts would give shifted parts of one sequence.
  explicit Dice(std::uint64_t seed) : state_(hashed(seed)) {}
  std::uint64_t next() { return hashed(state_ += 0x9e3779b97f4a7c15ULL); }  // splitmix64
  int pick(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + pick(high - low + 1); }
  bool chance(int percent) { return pick(100) < percent; }
  template <typename T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<std::size_t>(pick(static_cast<int>(i)))]);
  }

 private:
  static std::uint64_t hashed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace berth::engine::worlds
