#include "api/kueue/ready_times.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "api/kueue/names.h"

namespace berth::api::kueue {
namespace {

constexpr std::string_view kTimeout = "timeoutSeconds", kRecovery = "recoveryTimeoutSeconds";
// Longer times do not fit the clock.
constexpr std::int64_t kMostSeconds = 100LL * 365 * 24 * 3600;

Result<std::optional<Duration>> seconds_of(const Json& object, std::string_view name) {
  const Json* value = find(object, name);
  if (value == nullptr || value->is_null()) return std::optional<Duration>();
  const std::int64_t seconds = value->is_int64() ? value->get_int64() : 0;
  if (seconds < 1 || seconds > kMostSeconds)
    return fail(fmt::format("{} must be a whole number of seconds, at least 1", name));
  return std::optional<Duration>(std::chrono::seconds(seconds));
}

}  // namespace

Result<ReadyTimes> parse_ready_times(std::string_view text) {
  const auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object())
    return fail(R"(must be a JSON object such as {"timeoutSeconds": 600, "recoveryTimeoutSeconds": 300})");
  const auto timeout = seconds_of(*parsed, kTimeout);
  if (!timeout) return tl::unexpected(timeout.error());
  const auto recovery = seconds_of(*parsed, kRecovery);
  if (!recovery) return tl::unexpected(recovery.error());
  if (!*timeout) return fail(fmt::format("must set {}", kTimeout));
  return ReadyTimes{**timeout, recovery->value_or(**timeout)};
}

std::optional<ReadyTimes> ready_times(const ObjectMeta& meta) {
  const auto found = meta.annotations.find(kWaitForPodsReady);
  if (found == meta.annotations.end() || found->second.empty()) return std::nullopt;
  const auto times = parse_ready_times(found->second);
  return times ? std::optional(*times) : std::nullopt;
}

void check_ready_times(const Json& job, const LabelRules& rules, FieldErrors& errors) {
  const std::string_view text = annotation_of(job, kWaitForPodsReady);
  if (text.empty() || !rules.longest_ready_time) return;
  const Duration longest = *rules.longest_ready_time;
  const auto times = parse_ready_times(text);
  const auto refuse = [&](std::string why) {
    errors.push_back(invalid_value(annotation_field(kWaitForPodsReady), Json(text), std::move(why)));
  };
  if (!times) return refuse(times.error().message);
  for (const auto& [name, value] : {std::pair(kTimeout, times->timeout), std::pair(kRecovery, times->recovery)}) {
    if (value > longest)
      return refuse(fmt::format("{} must be at most {}: waitForPodsReady.maxTimeoutOnWorkload allows no more", name,
                                std::chrono::duration_cast<std::chrono::seconds>(longest).count()));
  }
}

}  // namespace berth::api::kueue
