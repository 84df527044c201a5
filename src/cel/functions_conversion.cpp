// int(), string(), type() and other conversions.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "cel/functions.h"

namespace berth::cel {
namespace {

template <typename T>
std::optional<T> read(std::string_view text) {
  T out{};
  if (text.starts_with('+')) text.remove_prefix(1);
  auto result = std::from_chars(text.data(), text.data() + text.size(), out);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return out;
}

Value bad_text(std::string_view text, std::string_view type) {
  return failure(fmt::format("type conversion error from 'string' to '{}': {}", type, text));
}

Value to_int(std::span<const Value> args) {
  const Value& v = args[0];
  if (v.as<std::int64_t>() != nullptr) return v;
  if (const auto* u = v.as<std::uint64_t>())
    return *u > INT64_MAX ? failure("integer overflow") : Value(static_cast<std::int64_t>(*u));
  if (const auto* d = v.as<double>()) {
    constexpr double kLimit = 9223372036854775808.0;
    return *d > -kLimit && *d < kLimit ? Value(static_cast<std::int64_t>(*d)) : failure("integer overflow");
  }
  if (const auto* t = v.as<Time>())
    return std::int64_t{std::chrono::floor<std::chrono::seconds>(*t).time_since_epoch().count()};
  if (const auto* s = v.as<Text>()) {
    auto i = read<std::int64_t>(s->view);
    return i ? Value(*i) : bad_text(s->view, "int");
  }
  return no_such_overload();
}

Value to_uint(std::span<const Value> args) {
  const Value& v = args[0];
  if (v.as<std::uint64_t>() != nullptr) return v;
  if (const auto* i = v.as<std::int64_t>())
    return *i < 0 ? failure("unsigned integer overflow") : Value(static_cast<std::uint64_t>(*i));
  if (const auto* d = v.as<double>()) {
    constexpr double kLimit = 18446744073709551616.0;
    return *d > -1 && *d < kLimit ? Value(static_cast<std::uint64_t>(*d)) : failure("unsigned integer overflow");
  }
  if (const auto* s = v.as<Text>()) {
    auto u = read<std::uint64_t>(s->view);
    return u ? Value(*u) : bad_text(s->view, "uint");
  }
  return no_such_overload();
}

Value to_double(std::span<const Value> args) {
  const Value& v = args[0];
  if (v.as<double>() != nullptr) return v;
  if (const auto* i = v.as<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* u = v.as<std::uint64_t>()) return static_cast<double>(*u);
  if (const auto* s = v.as<Text>()) {
    auto d = read<double>(s->view);
    return d ? Value(*d) : bad_text(s->view, "double");
  }
  return no_such_overload();
}

Value to_text(std::span<const Value> args) {
  const Value& v = args[0];
  if (v.as<Text>() != nullptr) return v;
  if (const auto* b = v.as<bool>()) return text(*b ? "true" : "false");
  if (const auto* i = v.as<std::int64_t>()) return text(std::to_string(*i));
  if (const auto* u = v.as<std::uint64_t>()) return text(std::to_string(*u));
  if (const auto* d = v.as<double>()) return text(fmt::format("{}", *d));
  if (const auto* b = v.as<Bytes>()) return text(*b->data);
  if (const auto* t = v.as<Time>())
    return text(t->time_since_epoch().count() % 1'000'000 == 0 ? format_time(*t) : format_micro_time(*t));
  if (const auto* d = v.as<Duration>()) return text(fmt::format("{}s", static_cast<double>(d->count()) / 1e6));
  if (const auto* q = v.as<Quantity>()) return text(q->to_string());
  return no_such_overload();
}

Value to_bytes(std::span<const Value> args) {
  if (args[0].as<Bytes>() != nullptr) return args[0];
  const auto* s = args[0].as<Text>();
  return s != nullptr ? Value(Bytes{std::make_shared<const std::string>(s->view)}) : no_such_overload();
}

Value to_bool(std::span<const Value> args) {
  if (args[0].as<bool>() != nullptr) return args[0];
  const auto* s = args[0].as<Text>();
  if (s == nullptr) return no_such_overload();
  for (std::string_view yes : {"1", "t", "true", "TRUE", "True"}) {
    if (s->view == yes) return true;
  }
  for (std::string_view no : {"0", "f", "false", "FALSE", "False"}) {
    if (s->view == no) return false;
  }
  return bad_text(s->view, "bool");
}

Value to_duration(std::span<const Value> args) {
  if (args[0].as<Duration>() != nullptr) return args[0];
  const auto* s = args[0].as<Text>();
  if (s == nullptr) return no_such_overload();
  auto duration = parse_duration(s->view);
  return duration ? Value(*duration) : bad_text(s->view, "google.protobuf.Duration");
}

Value to_timestamp(std::span<const Value> args) {
  if (args[0].as<Time>() != nullptr) return args[0];
  if (const auto* i = args[0].as<std::int64_t>()) {
    // The start of year 1 and the end of year 9999.
    constexpr std::int64_t kFirst = -62135596800, kLast = 253402300799;
    return *i >= kFirst && *i <= kLast ? Value(Time(std::chrono::seconds(*i))) : failure("timestamp overflow");
  }
  const auto* s = args[0].as<Text>();
  if (s == nullptr) return no_such_overload();
  auto time = parse_time(s->view);
  return time ? Value(*time) : bad_text(s->view, "google.protobuf.Timestamp");
}

Value type_of(std::span<const Value> args) {
  if (args[0].as<TypeName>() != nullptr) return TypeName{"type"};
  return TypeName{type_name(args[0])};
}

Value dyn(std::span<const Value> args) { return args[0]; }

constexpr Function kConversionFunctions[] = {
    {"int", false, "i:i u:i d:i s:i T:i", CostKind::kConstant, to_int},
    {"uint", false, "u:u i:u d:u s:u", CostKind::kConstant, to_uint},
    {"double", false, "d:d i:d u:d s:d", CostKind::kConstant, to_double},
    {"string", false, "s:s b:s i:s u:s d:s y:s T:s D:s", CostKind::kFirst, to_text},
    {"bytes", false, "y:y s:y", CostKind::kFirst, to_bytes},
    {"bool", false, "b:b s:b", CostKind::kConstant, to_bool},
    {"duration", false, "D:D s:D", CostKind::kConstant, to_duration},
    {"timestamp", false, "T:T s:T i:T", CostKind::kConstant, to_timestamp},
    {"type", false, "*:t", CostKind::kConstant, type_of},
    {"dyn", false, "*:*", CostKind::kConstant, dyn},
};

}  // namespace

std::span<const Function> conversion_functions() { return kConversionFunctions; }

}  // namespace berth::cel
