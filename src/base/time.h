// Points in time and durations as Kubernetes writes them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

using Duration = std::chrono::microseconds;
using Time = std::chrono::sys_time<Duration>;  // UTC

std::string format_time(Time t);                 // RFC 3339, whole seconds: metav1.Time, "2026-11-21T09:30:00Z"
std::string format_micro_time(Time t);           // RFC 3339, six decimals: metav1.MicroTime
Result<Time> parse_time(std::string_view text);  // RFC 3339 with any fraction and offset

std::string format_duration(Duration d);                 // as Go prints: "1h0m5s", "1.5s", "0s"
Result<Duration> parse_duration(std::string_view text);  // as Go parses: "90s", "1h30m", "250ms"

inline double in_seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
inline Time to_seconds(Time t) { return std::chrono::floor<std::chrono::seconds>(t); }

}  // namespace berth
