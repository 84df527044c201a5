// resource.Quantity of Kubernetes: exact decimal numbers with suffixes.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

// A number with at most nine decimals, rounded as in Kubernetes (up, away from zero), and the suffix family to print
// it with. Values with a binary suffix are capped at +-(2^63-1), as in Kubernetes; others saturate at +-10^27.
class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity() = default;
  static Quantity of(std::int64_t value, Format format = Format::kDecimalSi);
  static Quantity of_milli(std::int64_t value, Format format = Format::kDecimalSi);
  __extension__ typedef __int128 Nano;  // billionths of the unit
  static Quantity of_nano(Nano value);  // saturates
  // Accepts what Kubernetes accepts: "100m", "1.5", "2Gi", "1e3", "+5". Error: quantities must match the
  // regular expression...
  static Result<Quantity> parse(std::string_view text);

  std::string to_string() const;     // canonical form: "1500m", "2Gi", "1e3"
  std::int64_t value() const;        // rounded up to an integer, saturating
  std::int64_t milli_value() const;  // in thousandths, rounded up, saturating
  // Returns a reduced fraction with a denominator of at most 10^9; 0/1 when the quantity is not positive. Exact,
  // except that a number that does not fit into the fraction is rounded up to an integer, saturating.
  struct Fraction {
    std::uint64_t numerator = 0, denominator = 1;
    bool operator==(const Fraction&) const = default;
  };
  Fraction fraction() const;
  Nano nano_value() const { return nano_; }
  bool is_zero() const { return nano_ == 0; }
  int sign() const { return nano_ < 0 ? -1 : nano_ > 0 ? 1 : 0; }
  Format format() const { return format_; }
  // The exact number in billionths as two halves, for storage. from_billionths() clamps what no quantity can be.
  struct Billionths {
    std::int64_t high = 0;
    std::uint64_t low = 0;
  };
  Billionths billionths() const;
  static Quantity from_billionths(Billionths number, Format format);

  Quantity operator+(const Quantity& o) const;  // saturates; keeps the left format unless left is zero
  Quantity operator-(const Quantity& o) const;
  Quantity operator*(std::int64_t factor) const;
  std::strong_ordering operator<=>(const Quantity& o) const { return nano_ <=> o.nano_; }
  bool operator==(const Quantity& o) const { return nano_ == o.nano_; }

 private:
  Nano nano_ = 0;
  Format format_ = Format::kDecimalSi;
};

}  // namespace berth
