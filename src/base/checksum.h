// A fast 64-bit hash: finds damage in files and differences between decisions. Not for secrets, and not for tables that
// others fill. The same bytes give the same number on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

// Each step is a bijection of the state and of the word that it takes in, so two texts of one length that differ in
// one word never have the same checksum.
class Checksum {
 public:
  Checksum& add(std::string_view bytes);
  Checksum& add(std::uint64_t word) {
    word *= kMultiplier;
    word ^= word >> 47;
    state_ = (state_ ^ word) * kMultiplier;
    state_ ^= state_ >> 29;
    return *this;
  }
  std::uint64_t value() const { return state_; }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // odd: the golden ratio
  std::uint64_t state_ = 0x243f6a8885a308d3;                        // digits of pi
};

inline std::uint64_t checksum_of(std::string_view bytes) { return Checksum().add(bytes).value(); }

}  // namespace berth
