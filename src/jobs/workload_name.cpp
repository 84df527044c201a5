#include "jobs/workload_name.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace berth::jobs {
namespace {

constexpr std::size_t kMaxName = 253, kMaxShortName = 63;
constexpr std::size_t kHashDigits = 5;

}  // namespace

std::string workload_name(std::string_view group, std::string_view kind, std::string_view name, std::string_view uid,
                          bool is_short, std::string_view which) {
  std::string identity;
  for (const auto part : {kind, group, name}) identity.append(part).append("\n");
  identity.append(uid);
  if (!which.empty()) identity.append("\n").append(which);
  std::string prefix = to_lower(kind);
  prefix.append("-").append(name);
  prefix.resize(std::min(prefix.size(), (is_short ? kMaxShortName : kMaxName) - 1 - kHashDigits));
  return prefix + "-" + sha1_digits(identity, kHashDigits);
}

std::optional<std::string> job_in_name(std::string_view kind, std::string_view workload) {
  const std::string before = to_lower(kind) + "-";
  const std::size_t around = before.size() + 1 + kHashDigits;
  if (workload.size() <= around || !workload.starts_with(before)) return std::nullopt;
  const std::string_view hash = workload.substr(workload.size() - kHashDigits);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (workload[workload.size() - kHashDigits - 1] != '-' || !std::ranges::all_of(hash, is_digit)) return std::nullopt;
  return std::string(workload.substr(before.size(), workload.size() - around));
}

}  // namespace berth::jobs
