#include "jobs/workload_name.h"

#include <algorithm>
#include <cctype>

#include "base/sha1.h"

namespace berth::jobs {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kHashDigits = 5;

}  // namespace

std::string workload_name(std::string_view group, std::string_view kind, std::string_view name,
                          std::string_view uid) {
  std::string identity;
  for (const auto part : {kind, group, name}) identity.append(part).append("\n");
  identity.append(uid);
  std::string prefix;
  for (const char c : kind) prefix += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  prefix.append("-").append(name);
  prefix.resize(std::min(prefix.size(), kMaxName - 1 - kHashDigits));
  return prefix + "-" + sha1_digits(identity, kHashDigits);
}

}  // namespace berth::jobs
