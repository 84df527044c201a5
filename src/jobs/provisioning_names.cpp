#include "jobs/provisioning_names.h"

#include <algorithm>
#include <charconv>

#include "base/digest.h"

namespace berth::jobs {
namespace {

constexpr std::size_t kMaxUncut = 247;
constexpr std::size_t kCutHashDigits = 5;
constexpr std::int32_t kRecognized = 16;  // latest attempts that a cut name is compared with

std::string prefix_of(std::string_view workload, std::string_view check) {
  std::string prefix(workload);
  return prefix.append("-").append(check).append("-");
}

}  // namespace

std::string limited_name(std::string_view name) {
  if (name.size() <= kMaxUncut) return std::string(name);
  return std::string(name.substr(0, kMaxUncut)) + "-" + sha1_digits(name, kCutHashDigits);
}

std::string provisioning_request_name(std::string_view workload, std::string_view check, std::int32_t attempt) {
  return limited_name(prefix_of(workload, check) + std::to_string(attempt));
}

std::string pod_template_name(std::string_view request, std::string_view pod_set) {
  std::string name("ppt-");
  return limited_name(name.append(request).append("-").append(pod_set));
}

std::optional<std::int32_t> attempt_of(std::string_view request, std::string_view workload, std::string_view check,
                                       std::int32_t highest) {
  const std::string prefix = prefix_of(workload, check);
  if (request.size() <= kMaxUncut) {
    if (!request.starts_with(prefix)) return std::nullopt;
    const std::string_view digits = request.substr(prefix.size());
    std::int32_t attempt = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), attempt);
    const bool number = error == std::errc{} && end == digits.data() + digits.size();
    if (!number || attempt < 1 || digits.front() == '0') return std::nullopt;
    return attempt;
  }
  for (std::int32_t attempt = highest; attempt > std::max(highest - kRecognized, 0); --attempt) {
    if (limited_name(prefix + std::to_string(attempt)) == request) return attempt;
  }
  return std::nullopt;
}

}  // namespace berth::jobs
