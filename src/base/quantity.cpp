#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace berth {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

constexpr Wide kNanoPerUnit = 1'000'000'000;
constexpr Wide kNanoPerMilli = 1'000'000;
constexpr Wide kMaxInt64 = INT64_MAX;
constexpr int kMaxDigits = 36;  // of billionths: 10^27 units, far from overflow of 128 bits in one addition

constexpr Wide power_of_ten(int exponent) {
  Wide power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}
constexpr Wide kMaxNano = power_of_ten(kMaxDigits);

constexpr Wide clamp(Wide nano) { return nano > kMaxNano ? kMaxNano : nano < -kMaxNano ? -kMaxNano : nano; }

// Converts `nano` billionths to units of `divisor` billionths, rounded away from zero, clamped to int64.
std::int64_t in_units_of(Wide nano, Wide divisor) {
  Wide count = nano / divisor;
  if (nano % divisor != 0) count += nano < 0 ? -1 : 1;
  return static_cast<std::int64_t>(std::clamp<Wide>(count, INT64_MIN, INT64_MAX));
}

std::string wide_to_string(Wide value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string text;
  for (; value != 0; value /= 10)
    text += static_cast<char>('0' + static_cast<int>(negative ? -(value % 10) : value % 10));
  if (negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

struct Suffix {
  std::string_view text;
  int exponent;
};
constexpr std::array<Suffix, 10> kDecimal{
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
constexpr std::array<Suffix, 6> kBinary{{{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

// The parts of "-1.25Gi", all slices of the text.
struct Parts {
  bool negative = false;
  std::string_view whole, fraction, suffix;
};

Result<Parts> split(std::string_view text) {
  Parts parts;
  std::size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    parts.negative = text[0] == '-';
    ++at;
  }
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(start, at - start);
  };
  parts.whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    parts.fraction = digits();
  }
  parts.suffix = text.substr(at);
  const auto end_of_letters = parts.suffix.find_first_not_of("eEinumkKMGTP");
  std::string_view tail = end_of_letters == std::string_view::npos ? "" : parts.suffix.substr(end_of_letters);
  if (!tail.empty() && (tail[0] == '-' || tail[0] == '+')) tail.remove_prefix(1);
  if ((parts.whole.empty() && parts.fraction.empty()) || !std::all_of(tail.begin(), tail.end(), is_digit))
    return fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  return parts;
}

struct Scale {
  int exponent = 0;  // of 2 when the format is binary, else of 10
  Quantity::Format format = Quantity::Format::kDecimalSi;
};

// Parses the digits of an exponent. Extreme exponents are cut: the quantity saturates or rounds up to one billionth
// in either case.
std::optional<int> exponent_of(std::string_view digits) {
  constexpr int kFarOff = 100'000'000;
  bool negative = false;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
    negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.empty()) return std::nullopt;
  int value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    value = std::min(kFarOff, value * 10 + (c - '0'));
  }
  return negative ? -value : value;
}

Result<Scale> interpret(std::string_view suffix) {
  for (const Suffix& s : kDecimal)
    if (s.text == suffix) return Scale{s.exponent, Quantity::Format::kDecimalSi};
  for (const Suffix& s : kBinary)
    if (s.text == suffix) return Scale{s.exponent, Quantity::Format::kBinarySi};
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E'))
    if (const auto exponent = exponent_of(suffix.substr(1)))
      return Scale{*exponent, Quantity::Format::kDecimalExponent};
  return fail("unable to parse quantity's suffix");
}

// Returns whole.fraction * 10^exponent in billionths, rounded up.
Wide decimal_nano(std::string_view whole, std::string_view fraction, int exponent) {
  std::string digits(whole);
  digits += fraction;
  digits.erase(0, digits.find_first_not_of('0'));  // npos clears it
  if (digits.empty()) return 0;
  const std::int64_t shift = std::int64_t{exponent} + 9 - static_cast<std::int64_t>(fraction.size());
  const std::int64_t length = static_cast<std::int64_t>(digits.size()) + shift;  // digits of the result
  if (length > kMaxDigits) return kMaxNano;
  bool rest = false;
  if (shift < 0) {
    const std::size_t kept = length > 0 ? static_cast<std::size_t>(length) : 0;
    rest = digits.find_first_not_of('0', kept) != std::string::npos;
    digits.resize(kept);
  }
  Wide value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  for (std::int64_t i = 0; i < shift; ++i) value *= 10;
  return value + (rest ? 1 : 0);
}

// Multiplies the decimal fraction 0.d1d2d3... by `factor` in place; returns the integer part of the product.
UnsignedWide multiply_fraction(std::vector<std::uint8_t>& fraction, std::uint64_t factor) {
  UnsignedWide carry = 0;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    carry += static_cast<UnsignedWide>(*digit) * factor;
    *digit = static_cast<std::uint8_t>(carry % 10);
    carry /= 10;
  }
  return carry;
}

// whole.fraction * 2^exponent in billionths, rounded up, at most 2^63-1 units.
Wide binary_nano(std::string_view whole, std::string_view fraction, int exponent) {
  const std::uint64_t factor = std::uint64_t{1} << exponent;
  UnsignedWide units = 0;
  for (const char c : whole) {
    units = units * 10 + static_cast<unsigned>(c - '0');
    if (units > static_cast<UnsignedWide>(kMaxInt64)) return kMaxInt64 * kNanoPerUnit;
  }
  std::vector<std::uint8_t> rest;
  rest.reserve(fraction.size());
  for (const char c : fraction) rest.push_back(static_cast<std::uint8_t>(c - '0'));
  units = units * factor + multiply_fraction(rest, factor);
  if (units >= static_cast<UnsignedWide>(kMaxInt64)) return kMaxInt64 * kNanoPerUnit;
  Wide nano = static_cast<Wide>(units) * kNanoPerUnit + static_cast<Wide>(multiply_fraction(rest, 1'000'000'000));
  if (std::any_of(rest.begin(), rest.end(), [](std::uint8_t digit) { return digit != 0; })) ++nano;
  return nano;
}

std::string print_decimal(Wide nano, bool with_exponent) {
  int exponent = -9;
  while (nano % 10 == 0 && (with_exponent || exponent < 18)) {
    nano /= 10;
    ++exponent;
  }
  for (; exponent % 3 != 0; --exponent) nano *= 10;
  std::string text = wide_to_string(nano);
  if (with_exponent) return exponent == 0 ? text : text + "e" + std::to_string(exponent);
  const auto suffix =
      std::find_if(kDecimal.begin(), kDecimal.end(), [&](const Suffix& s) { return s.exponent == exponent; });
  return text.append(suffix->text);
}

std::string print_binary(Wide units) {
  std::size_t times = 0;
  for (; units % 1024 == 0 && times < kBinary.size(); ++times) units /= 1024;
  std::string text = wide_to_string(units);
  return times == 0 ? text : text.append(kBinary[times - 1].text);
}

}  // namespace

Quantity Quantity::of(std::int64_t value, Format format) {
  Quantity q;
  q.nano_ = static_cast<Wide>(value) * kNanoPerUnit;
  q.format_ = format;
  return q;
}

Quantity Quantity::of_milli(std::int64_t value, Format format) {
  Quantity q;
  q.nano_ = static_cast<Wide>(value) * kNanoPerMilli;
  q.format_ = format;
  return q;
}

Quantity Quantity::of_nano(Nano value) {
  return from_billionths({static_cast<std::int64_t>(value >> 64), static_cast<std::uint64_t>(value)},
                         Format::kDecimalSi);
}

Result<Quantity> Quantity::parse(std::string_view text) {
  const Result<Parts> parts = split(text);
  if (!parts) return tl::unexpected(parts.error());
  const Result<Scale> scale = interpret(parts->suffix);
  if (!scale) return tl::unexpected(scale.error());
  Quantity q;
  q.format_ = scale->format;
  q.nano_ = scale->format == Format::kBinarySi ? binary_nano(parts->whole, parts->fraction, scale->exponent)
                                               : decimal_nano(parts->whole, parts->fraction, scale->exponent);
  if (parts->negative) q.nano_ = -q.nano_;
  return q;
}

std::string Quantity::to_string() const {
  if (nano_ == 0) return "0";
  const bool small = nano_ > -1024 * kNanoPerUnit && nano_ < 1024 * kNanoPerUnit;
  if (format_ == Format::kBinarySi && !small && nano_ % kNanoPerUnit == 0) return print_binary(nano_ / kNanoPerUnit);
  return print_decimal(nano_, format_ == Format::kDecimalExponent);
}

std::int64_t Quantity::value() const { return in_units_of(nano_, kNanoPerUnit); }
std::int64_t Quantity::milli_value() const { return in_units_of(nano_, kNanoPerMilli); }

Quantity::Fraction Quantity::fraction() const {
  if (nano_ <= 0) return {};
  Wide common = nano_, rest = kNanoPerUnit;
  while (rest != 0) common = std::exchange(rest, common % rest);
  const Wide numerator = nano_ / common;
  if (numerator > std::numeric_limits<std::int64_t>::max()) return {static_cast<std::uint64_t>(value()), 1};
  return {static_cast<std::uint64_t>(numerator), static_cast<std::uint64_t>(kNanoPerUnit / common)};
}

Quantity Quantity::operator+(const Quantity& o) const {
  Quantity sum;
  sum.nano_ = clamp(nano_ + o.nano_);
  sum.format_ = nano_ == 0 ? o.format_ : format_;
  return sum;
}

Quantity Quantity::operator-(const Quantity& o) const {
  Quantity difference;
  difference.nano_ = clamp(nano_ - o.nano_);
  difference.format_ = nano_ == 0 ? o.format_ : format_;
  return difference;
}

Quantity Quantity::operator*(std::int64_t factor) const {
  Quantity product = *this;
  const bool negative = (nano_ < 0) != (factor < 0);
  product.nano_ = __builtin_mul_overflow(nano_, static_cast<Wide>(factor), &product.nano_)
                      ? (negative ? -kMaxNano : kMaxNano)
                      : clamp(product.nano_);
  return product;
}

Quantity::Billionths Quantity::billionths() const {
  return {static_cast<std::int64_t>(nano_ >> 64), static_cast<std::uint64_t>(nano_)};
}

Quantity Quantity::from_billionths(Billionths number, Format format) {
  Quantity out;
  out.nano_ =
      clamp(static_cast<Wide>(static_cast<UnsignedWide>(static_cast<std::uint64_t>(number.high)) << 64 | number.low));
  out.format_ = format;
  return out;
}

}  // namespace berth
