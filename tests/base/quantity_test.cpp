#include "base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "base/amount.h"

namespace berth::quantity_test {
namespace {

struct Case {
  std::string text;
  std::string canonical;
};

TEST(Quantity, PrintsTheCanonicalForm) {
  const Case cases[] = {
      {"0", "0"},
      {"0Gi", "0"},
      {"-0", "0"},
      {"1", "1"},
      {"1.5", "1500m"},
      {"0.5", "500m"},
      {"1500m", "1500m"},
      {"2000m", "2"},
      {"100m", "100m"},
      {"0.1", "100m"},
      {"1k", "1k"},
      {"1000", "1k"},
      {"1024", "1024"},
      {"12345", "12345"},
      {"1.5Gi", "1536Mi"},
      {"1Gi", "1Gi"},
      {"1024Mi", "1Gi"},
      {"1023Ki", "1023Ki"},
      {"1Ki", "1Ki"},
      {"0.5Ki", "512"},
      {"0.1Ki", "102400m"},
      {"1.1Ki", "1126400m"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"12e-3", "12e-3"},
      {"1e1", "10"},
      {"123e4", "1230e3"},
      {"1E", "1E"},
      {"10E", "10E"},
      {"+5", "5"},
      {"-1.5", "-1500m"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1.0000000001", "1000000001n"},
      {"1.", "1"},
      {".5", "500m"},
      {"1u", "1u"},
      {"100000u", "100m"},
      {"0001.50", "1500m"},
      {"7Ei", "7Ei"},
      {"8Ei", "9223372036854775807"},
      {"100Ei", "9223372036854775807"},
      {"1e-100", "1e-9"},
      {"0.000000000000000000001Gi", "1n"},
      {"2Ti", "2Ti"},
      {"1000Ti", "1000Ti"},
      {"-2Gi", "-2Gi"},
      {"3e0", "3"},
  };
  for (const Case& c : cases) {
    const Result<Quantity> q = Quantity::parse(c.text);
    ASSERT_TRUE(q) << c.text << ": " << q.error().message;
    EXPECT_EQ(q->to_string(), c.canonical) << c.text;
  }
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  for (const std::string text :
       {"",       " ",       "1 ",  " 1",  "a",     "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i",
        "-3.01i", "-3.01e-", "+-1", "--1", "1e1.5", "1Kx",   "1k i",   ".",     "+",     "-",    "Gi",  "1KI"})
    EXPECT_FALSE(Quantity::parse(text)) << text;
  EXPECT_EQ(Quantity::parse("ten").error().message,
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  EXPECT_EQ(Quantity::parse("1mi").error().message, "unable to parse quantity's suffix");
}

TEST(Quantity, ValuesRoundUpAndSaturate) {
  EXPECT_EQ(Quantity::parse("1.2")->value(), 2);
  EXPECT_EQ(Quantity::parse("1u")->milli_value(), 1);
  EXPECT_EQ(Quantity::parse("-1.2")->value(), -2);
  EXPECT_EQ(Quantity::parse("1500m")->milli_value(), 1500);
  EXPECT_EQ(Quantity::parse("100E")->value(), INT64_MAX);
  EXPECT_EQ(Quantity::parse("-100E")->value(), INT64_MIN);
  EXPECT_EQ(Quantity::parse("9E")->milli_value(), INT64_MAX);
}

TEST(Quantity, AddingKeepsTheFormatOfTheLeftUnlessZero) {
  const Quantity gi = *Quantity::parse("1Gi");
  EXPECT_EQ((gi + *Quantity::parse("1024")).to_string(), "1048577Ki");
  EXPECT_EQ((Quantity() + gi).to_string(), "1Gi");
  EXPECT_EQ((gi - gi).to_string(), "0");
  EXPECT_EQ((gi * 3).to_string(), "3Gi");
  EXPECT_EQ((gi * INT64_MAX * INT64_MAX).value(), INT64_MAX);
  EXPECT_EQ((gi * -INT64_MAX * INT64_MAX).value(), INT64_MIN);
}

rc::Gen<std::string> any_quantity() {
  return rc::gen::apply(
      [](bool negative, std::uint32_t whole, std::vector<char> fraction, std::string suffix) {
        std::string text = negative ? "-" : "";
        text += std::to_string(whole);
        if (!fraction.empty()) text += "." + std::string(fraction.begin(), fraction.end());
        return text + suffix;
      },
      rc::gen::arbitrary<bool>(), rc::gen::arbitrary<std::uint32_t>(),
      rc::gen::container<std::vector<char>>(rc::gen::inRange('0', static_cast<char>('9' + 1))),
      rc::gen::element<std::string>("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
                                    "e0", "e3", "e-3", "E12", "e-7"));
}

RC_GTEST_PROP(Quantity, PrintedTextReadsBackAsTheSameValueAndText, ()) {
  const Quantity q = *Quantity::parse(*any_quantity());
  const std::string text = q.to_string();
  const Quantity again = *Quantity::parse(text);
  // Beyond the int64 range a binary quantity is capped and prints as decimal digits.
  RC_ASSERT(again == q);
  RC_ASSERT(again.to_string() == text || q.format() != again.format());
}

RC_GTEST_PROP(Quantity, OrderIsThatOfTheExactNumbers, (std::int32_t a, std::int32_t b)) {
  // Compares a thousandths with b.125, exactly in int64: both in thousandths.
  const Quantity x = Quantity::of_milli(a);
  const Quantity y = *Quantity::parse(std::to_string(b) + ".125");
  const std::int64_t eighths = std::int64_t{b} * 1000 + (b < 0 ? -125 : 125);
  RC_PRE(b != 0);
  RC_ASSERT((x < y) == (std::int64_t{a} < eighths));
  RC_ASSERT((x == y) == (std::int64_t{a} == eighths));
}

// A naive model: the number in billionths. Whole numbers of at most 2^20 keep it within 128 bits.
__extension__ typedef __int128 Wide;
struct Plain {
  std::int32_t whole;
  std::string suffix;
  Wide nano() const {
    static const std::map<std::string, Wide> kUnits = {{"n", 1},
                                                       {"u", 1000},
                                                       {"m", 1000000},
                                                       {"", 1000000000},
                                                       {"k", 1000000000000},
                                                       {"M", Wide{1000000000} * 1000000},
                                                       {"Ki", Wide{1000000000} << 10},
                                                       {"Mi", Wide{1000000000} << 20},
                                                       {"Gi", Wide{1000000000} << 30}};
    return whole * kUnits.at(suffix);
  }
  Quantity quantity() const { return *Quantity::parse(std::to_string(whole) + suffix); }
};

rc::Gen<Plain> any_plain() {
  return rc::gen::construct<Plain>(rc::gen::inRange(-(1 << 20), 1 << 20),
                                   rc::gen::element<std::string>("n", "u", "m", "", "k", "M", "Ki", "Mi", "Gi"));
}

RC_GTEST_PROP(Quantity, ComparesAndAddsAcrossSuffixesExactly, ()) {
  const Plain a = *any_plain();
  const Plain b = *any_plain();
  RC_ASSERT((a.quantity() < b.quantity()) == (a.nano() < b.nano()));
  RC_ASSERT((a.quantity() == b.quantity()) == (a.nano() == b.nano()));
  const Wide sum = a.nano() + b.nano();
  const Wide units = sum / 1000000000 + (sum % 1000000000 == 0 ? 0 : sum < 0 ? -1 : 1);
  RC_ASSERT(Wide{(a.quantity() + b.quantity()).value()} == units);
}

RC_GTEST_PROP(Quantity, SumsAreExact, (std::int32_t a, std::int32_t b, std::int16_t factor)) {
  const Quantity x = Quantity::of_milli(a);
  const Quantity y = Quantity::of_milli(b);
  RC_ASSERT((x + y).milli_value() == std::int64_t{a} + b);
  RC_ASSERT((x - y).milli_value() == std::int64_t{a} - b);
  RC_ASSERT((x * factor).milli_value() == std::int64_t{a} * factor);
}

TEST(Amount, CountsCpuInThousandthsAndOthersInUnits) {
  EXPECT_EQ(to_amount("cpu", *Quantity::parse("1.5")).count(), 1500);
  EXPECT_EQ(to_amount("memory", *Quantity::parse("1Gi")).count(), 1 << 30);
  EXPECT_EQ(to_amount("example.com/gpu", *Quantity::parse("3")).count(), 3);
  EXPECT_EQ(to_amount("memory", *Quantity::parse("1500m")).count(), 2);
}

TEST(Amount, PrintsWithTheSuffixesOfItsResource) {
  EXPECT_EQ(format_amount("cpu", Amount::of(1500)), "1500m");
  EXPECT_EQ(format_amount("cpu", Amount::of(4000)), "4");
  EXPECT_EQ(format_amount("memory", Amount::of(std::int64_t{1536} << 20)), "1536Mi");
  EXPECT_EQ(format_amount("memory", Amount::of(1000)), "1k");
  EXPECT_EQ(format_amount("hugepages-2Mi", Amount::of(4 << 20)), "4Mi");
  EXPECT_EQ(format_amount("pods", Amount::of(12)), "12");
}

TEST(Amount, SaturatesAndUnlimitedAbsorbs) {
  EXPECT_TRUE((Amount::unlimited() - Amount::of(5)).is_unlimited());
  EXPECT_TRUE((Amount::of(5) + Amount::unlimited()).is_unlimited());
  EXPECT_EQ((Amount::of(INT64_MIN) - Amount::of(1)).count(), INT64_MIN);
  EXPECT_TRUE((Amount::of(INT64_MAX / 2) * 3).is_unlimited());
}

TEST(Quantity, IsAFraction) {
  using Fraction = Quantity::Fraction;
  const auto fraction = [](std::string_view text) { return Quantity::parse(text).value().fraction(); };
  EXPECT_EQ(fraction("0"), (Fraction{0, 1}));
  EXPECT_EQ(fraction("-3"), (Fraction{0, 1}));
  EXPECT_EQ(fraction("1"), (Fraction{1, 1}));
  EXPECT_EQ(fraction("2.5"), (Fraction{5, 2}));
  EXPECT_EQ(fraction("2n"), (Fraction{1, 500'000'000}));
  EXPECT_EQ(fraction("9223372036854775807"), (Fraction{9'223'372'036'854'775'807u, 1}));
  EXPECT_EQ(fraction("9000000000000.000000001"), (Fraction{9'000'000'000'001u, 1}));  // rounded up: does not fit
}

}  // namespace
}  // namespace berth::quantity_test
