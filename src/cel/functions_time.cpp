// Accessors of timestamps (in UTC or at a fixed offset) and of durations.
#include <charconv>

#include "cel/functions.h"

namespace berth::cel {
namespace {

enum class Part {
  kYear,
  kMonth,
  kDate,
  kDayOfMonth,
  kDayOfYear,
  kDayOfWeek,
  kHours,
  kMinutes,
  kSeconds,
  kMilliseconds
};

// Parses "UTC", "Z", "+02:00", "-07:30". Named time zones are not supported: they need a time zone database.
std::optional<std::chrono::minutes> offset_of(std::string_view zone) {
  if (zone.empty() || zone == "UTC" || zone == "Z") return std::chrono::minutes(0);
  const bool negative = zone[0] == '-';
  if (zone[0] == '+' || zone[0] == '-') zone.remove_prefix(1);
  int hours = 0, minutes = 0;
  if (zone.size() != 5 || zone[2] != ':') return std::nullopt;
  auto first = std::from_chars(zone.data(), zone.data() + 2, hours);
  auto second = std::from_chars(zone.data() + 3, zone.data() + 5, minutes);
  if (first.ec != std::errc() || second.ec != std::errc() || hours > 23 || minutes > 59) return std::nullopt;
  const int total = hours * 60 + minutes;
  return std::chrono::minutes(negative ? -total : total);
}

std::int64_t part_of(Time time, Part part) {
  using namespace std::chrono;
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  switch (part) {
    case Part::kYear:
      return static_cast<int>(date.year());
    case Part::kMonth:
      return static_cast<unsigned>(date.month()) - 1;
    case Part::kDate:
      return static_cast<unsigned>(date.day());
    case Part::kDayOfMonth:
      return static_cast<unsigned>(date.day()) - 1;
    case Part::kDayOfYear:
      return (day - sys_days(date.year() / January / 1)).count();
    case Part::kDayOfWeek:
      return weekday(day).c_encoding();
    case Part::kHours:
      return clock.hours().count();
    case Part::kMinutes:
      return clock.minutes().count();
    case Part::kSeconds:
      return clock.seconds().count();
    case Part::kMilliseconds:
      return floor<milliseconds>(clock.subseconds()).count();
  }
  return 0;
}

std::optional<std::int64_t> part_of(Duration duration, Part part) {
  using namespace std::chrono;
  switch (part) {
    case Part::kHours:
      return duration_cast<hours>(duration).count();
    case Part::kMinutes:
      return duration_cast<minutes>(duration).count();
    case Part::kSeconds:
      return duration_cast<seconds>(duration).count();
    case Part::kMilliseconds:
      return duration_cast<milliseconds>(duration).count();
    default:
      return std::nullopt;
  }
}

template <Part kPart>
Value get(std::span<const Value> args) {
  if (const auto* duration = args[0].as<Duration>()) {
    auto part = part_of(*duration, kPart);
    return part && args.size() == 1 ? Value(*part) : no_such_overload();
  }
  const auto* time = args[0].as<Time>();
  if (time == nullptr) return no_such_overload();
  std::chrono::minutes offset(0);
  if (args.size() == 2) {
    const auto* zone = args[1].as<Text>();
    auto parsed = zone != nullptr ? offset_of(zone->view) : std::nullopt;
    if (!parsed) return failure("unknown time zone " + (zone != nullptr ? std::string(zone->view) : std::string()));
    offset = *parsed;
  }
  return part_of(*time + offset, kPart);
}

constexpr std::string_view kOfTime = "T:i Ts:i";
constexpr std::string_view kOfBoth = "T:i Ts:i D:i";

constexpr Function kTimeFunctions[] = {
    {"getFullYear", true, kOfTime, CostKind::kConstant, get<Part::kYear>},
    {"getMonth", true, kOfTime, CostKind::kConstant, get<Part::kMonth>},
    {"getDate", true, kOfTime, CostKind::kConstant, get<Part::kDate>},
    {"getDayOfMonth", true, kOfTime, CostKind::kConstant, get<Part::kDayOfMonth>},
    {"getDayOfYear", true, kOfTime, CostKind::kConstant, get<Part::kDayOfYear>},
    {"getDayOfWeek", true, kOfTime, CostKind::kConstant, get<Part::kDayOfWeek>},
    {"getHours", true, kOfBoth, CostKind::kConstant, get<Part::kHours>},
    {"getMinutes", true, kOfBoth, CostKind::kConstant, get<Part::kMinutes>},
    {"getSeconds", true, kOfBoth, CostKind::kConstant, get<Part::kSeconds>},
    {"getMilliseconds", true, kOfBoth, CostKind::kConstant, get<Part::kMilliseconds>},
};

}  // namespace

std::span<const Function> time_functions() { return kTimeFunctions; }

}  // namespace berth::cel
