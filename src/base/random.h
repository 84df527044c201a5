// Pseudo-random numbers: the same seed gives the same numbers on every machine. For jitter and names, not for
// secrets.
#pragma once

#include <cstdint>

namespace berth {

// Splitmix64: advances `state` and returns the next number.
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace berth
