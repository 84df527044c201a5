// Generates uids and the random suffix of generated names.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace berth::apiserver {

class Names {
 public:
  explicit Names(std::uint64_t seed);  // 0: a random seed from the operating system

  std::string uid();  // a random (version 4) UUID
  // `prefix`, cut so that the result has at most 63 characters, plus five characters of Kubernetes' alphabet.
  std::string generate(std::string_view prefix);
  std::uint64_t below(std::uint64_t bound);  // 0 <= n < bound

 private:
  std::mt19937_64 random_;
};

}  // namespace berth::apiserver
