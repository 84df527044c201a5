#include "base/time.h"

#include <cstdint>

namespace berth {
namespace {

using std::chrono::microseconds;

// Reads exactly `count` digits at `at` and moves `at` behind them; -1 when there are fewer.
int digits(std::string_view text, std::size_t& at, std::size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (std::size_t end = at + count; at < end; ++at) {
    if (text[at] < '0' || text[at] > '9') return -1;
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool expect(std::string_view text, std::size_t& at, char c) {
  if (at >= text.size() || text[at] != c) return false;
  ++at;
  return true;
}

// Reads a fraction such as ".25" as microseconds; digits after the sixth are dropped. Returns 0 when there is no
// fraction, nullopt when no digit follows the point.
std::optional<std::int64_t> fraction(std::string_view text, std::size_t& at) {
  if (at >= text.size() || (text[at] != '.' && text[at] != ',')) return 0;
  const std::size_t start = ++at;
  std::int64_t value = 0;
  std::int64_t unit = 100'000;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value += (text[at] - '0') * unit;
    unit /= 10;
  }
  if (at == start) return std::nullopt;
  return value;
}

// Reads "Z" or an offset such as "+02:00". Returns the minutes to subtract to get UTC.
std::optional<int> offset(std::string_view text, std::size_t& at) {
  if (expect(text, at, 'Z') || expect(text, at, 'z')) return 0;
  if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return std::nullopt;
  const int sign = text[at++] == '-' ? -1 : 1;
  const int hours = digits(text, at, 2);
  if (!expect(text, at, ':')) return std::nullopt;
  const int minutes = digits(text, at, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return sign * (hours * 60 + minutes);
}

tl::unexpected<Error> bad_time(std::string_view text) {
  return fail("invalid time \"" + std::string(text) + "\": expected RFC 3339, such as 2026-11-21T09:30:00Z");
}

tl::unexpected<Error> bad_duration(std::string_view text) {
  return fail("invalid duration \"" + std::string(text) +
              "\": expected numbers with units, such as 1h30m, 90s or 250ms");
}

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr Unit kUnits[] = {
    {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000},
};

const Unit* take_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] != '.' && (text[length] < '0' || text[length] > '9')) ++length;
  for (const Unit& unit : kUnits) {
    if (text.substr(0, length) != unit.name) continue;
    text.remove_prefix(length);
    return &unit;
  }
  return nullptr;
}

// Takes one term of a duration, such as "1.5h", off `text`. Returns nanoseconds; nullopt when the term is malformed
// or does not fit into int64.
std::optional<std::int64_t> take_term(std::string_view& text) {
  __extension__ typedef __int128 Wide128;
  Wide128 whole = 0;
  Wide128 part = 0;
  Wide128 scale = 1;
  bool any = false;
  bool after_point = false;
  while (!text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '.') {
      if (after_point) return std::nullopt;
      after_point = true;
      continue;
    }
    any = true;
    if (!after_point) {
      whole = whole * 10 + (c - '0');
      if (whole > INT64_MAX) return std::nullopt;
    } else if (scale < 1'000'000'000'000'000) {  // more digits than any unit can show
      part = part * 10 + (c - '0');
      scale *= 10;
    }
  }
  if (!any) return std::nullopt;
  const Unit* unit = take_unit(text);
  if (!unit) return std::nullopt;
  const Wide total = whole * unit->nanoseconds + part * unit->nanoseconds / scale;
  if (total > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

// "1.5" of value / scale without trailing zeros.
std::string decimal(std::int64_t value, std::int64_t scale) {
  std::string text = std::to_string(value / scale);
  std::int64_t rest = value % scale;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    scale /= 10;
    text += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
  return text;
}

// Appends `value` with at least `width` digits.
void append_digits(std::string& out, std::int64_t value, int width) {
  char digits[24];
  char* const end = digits + sizeof digits;
  char* at = end;
  for (std::uint64_t rest = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
       rest != 0 || end - at < width; rest /= 10)
    *--at = static_cast<char>('0' + rest % 10);
  if (value < 0) *--at = '-';
  out.append(at, static_cast<std::size_t>(end - at));
}

std::string calendar(Time t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(t - day).count();
  std::string text;
  text.reserve(32);
  append_digits(text, static_cast<int>(date.year()), 4);
  append_digits(text.append(1, '-'), static_cast<unsigned>(date.month()), 2);
  append_digits(text.append(1, '-'), static_cast<unsigned>(date.day()), 2);
  append_digits(text.append(1, 'T'), seconds / 3600, 2);
  append_digits(text.append(1, ':'), seconds / 60 % 60, 2);
  append_digits(text.append(1, ':'), seconds % 60, 2);
  return text;
}

}  // namespace

std::string format_time(Time t) { return calendar(t).append(1, 'Z'); }

std::string format_micro_time(Time t) {
  std::string text = calendar(t).append(1, '.');
  append_digits(text, (t - std::chrono::floor<std::chrono::seconds>(t)).count(), 6);
  return text.append(1, 'Z');
}

Result<Time> parse_time(std::string_view text) {
  std::size_t at = 0;
  const int year = digits(text, at, 4);
  const bool dash1 = expect(text, at, '-');
  const int month = digits(text, at, 2);
  const bool dash2 = expect(text, at, '-');
  const int day = digits(text, at, 2);
  if (year < 0 || month < 0 || day < 0 || !dash1 || !dash2) return bad_time(text);
  if (!expect(text, at, 'T') && !expect(text, at, 't')) return bad_time(text);
  const int hour = digits(text, at, 2);
  const bool colon1 = expect(text, at, ':');
  const int minute = digits(text, at, 2);
  const bool colon2 = expect(text, at, ':');
  const int second = digits(text, at, 2);
  const bool in_range = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
  if (!colon1 || !colon2 || !in_range) return bad_time(text);
  const std::optional<std::int64_t> part = fraction(text, at);
  if (!part) return bad_time(text);
  const std::optional<int> minutes = offset(text, at);
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!minutes || at != text.size() || !date.ok()) return bad_time(text);
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) + std::chrono::minutes(minute - *minutes) +
         std::chrono::seconds(second) + microseconds(*part);
}

std::string format_duration(Duration d) {
  const std::int64_t count = d.count();
  if (count == 0) return "0s";
  if (count < 0) {
    // INT64_MIN has no positive counterpart; one microsecond does not matter there.
    return "-" + format_duration(Duration(count == INT64_MIN ? INT64_MAX : -count));
  }
  if (count < 1'000) return std::to_string(count) + "\u00b5s";
  if (count < 1'000'000) return decimal(count, 1'000) + "ms";
  const std::int64_t minutes = count / 60'000'000;
  std::string text = decimal(count % 60'000'000, 1'000'000) + "s";
  if (minutes > 0) text = std::to_string(minutes % 60) + "m" + text;
  if (minutes >= 60) text = std::to_string(minutes / 60) + "h" + text;
  return text;
}

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration(0);
  if (rest.empty()) return bad_duration(text);
  std::int64_t total = 0;
  while (!rest.empty()) {
    const std::optional<std::int64_t> term = take_term(rest);
    if (!term || __builtin_add_overflow(total, *term, &total)) return bad_duration(text);
  }
  return Duration((negative ? -total : total) / 1'000);
}

}  // namespace berth
