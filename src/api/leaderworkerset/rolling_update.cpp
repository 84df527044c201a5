#include "api/leaderworkerset/rolling_update.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace berth::api::leaderworkerset {
namespace {

// A number, or a percentage of `of` such as "25%".
std::int64_t share_of(const Json* value, std::int64_t of, std::int64_t otherwise, bool round_up) {
  if (value == nullptr) return otherwise;
  if (value->is_int64()) return std::max<std::int64_t>(value->get_int64(), 0);
  if (!value->is_string()) return otherwise;
  std::string_view text = view(value->get_string());
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return otherwise;
  if (!percent) return number;
  return (of * std::min<std::int64_t>(number, 100) + (round_up ? 99 : 0)) / 100;
}

}  // namespace

RollingUpdate rolling_update_of(const Json& set) {
  const std::int64_t replicas = replicas_of(set);
  const auto limit = [&](std::string_view field) {
    return find_path(set, {"spec", "rolloutStrategy", "rollingUpdateConfiguration", field});
  };
  RollingUpdate out;
  out.max_surge = share_of(limit("maxSurge"), replicas, 0, true);
  out.max_unavailable = share_of(limit("maxUnavailable"), replicas, 1, false);
  if (out.max_surge == 0) out.max_unavailable = std::max<std::int64_t>(out.max_unavailable, 1);
  out.partition = share_of(limit("partition"), replicas, 0, false);
  return out;
}

std::int64_t replicas_of(const Json& set) { return std::max<std::int64_t>(int_at(set, {"spec", "replicas"}, 1), 0); }

}  // namespace berth::api::leaderworkerset
