#include "embedded/apiserver/router/request_ids.h"

#include <algorithm>
#include <random>

namespace berth::apiserver::http {

RequestIds::RequestIds(std::uint64_t seed)
    : seed_(seed != 0 ? seed : (std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()) {}

// splitmix64
std::uint64_t RequestIds::next() const {
  std::uint64_t z = seed_ + 0x9e3779b97f4a7c15ULL * (1 + drawn_.fetch_add(1));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// A UUID of random bits.
std::string RequestIds::uuid() const {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string id;
  for (int half = 0; half < 2; ++half) {
    std::uint64_t bits = next();
    for (int i = 0; i < 16; ++i, bits >>= 4) id.push_back(kHex[bits & 15]);
  }
  id[12] = '4';
  for (const std::size_t dash : {20u, 16u, 12u, 8u}) id.insert(dash, 1, '-');
  return id;
}

std::string RequestIds::audit_id(const HttpRequest& request) const {
  constexpr std::size_t kMaxAuditId = 64;
  const std::string_view given = request.header("Audit-ID");
  const bool fine = std::all_of(given.begin(), given.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!given.empty() && given.size() <= kMaxAuditId && fine) return std::string(given);
  return uuid();
}

}  // namespace berth::apiserver::http
