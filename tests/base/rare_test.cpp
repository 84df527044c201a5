#include "base/rare.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::rare_test {
namespace {

TEST(Rare, IsAValueAsAnOptionalIs) {
  Rare<std::string> none, a = std::string("a");
  EXPECT_FALSE(none);
  EXPECT_EQ(none, std::nullopt);
  EXPECT_EQ(*a, "a");
  EXPECT_EQ(a, std::string("a"));
  EXPECT_FALSE(none == a);
  Rare<std::string> copy = a;
  copy->append("b");
  EXPECT_EQ(a, std::string("a")) << "copies are deep";
  EXPECT_FALSE(copy == a);
  copy = none;
  EXPECT_FALSE(copy);
  EXPECT_EQ(sizeof(copy), sizeof(void*));
}

TEST(Rare, TakesAndGivesOptionals) {
  Rare<int> value = std::optional<int>(3);
  EXPECT_EQ(*value, 3);
  const std::optional<int> back = value;
  EXPECT_EQ(back, 3);
  value = std::optional<int>();
  EXPECT_FALSE(value.has_value());
  EXPECT_EQ(std::optional<int>(value), std::nullopt);
  value.emplace() = 5;
  EXPECT_EQ(value, 5);
  value.reset();
  EXPECT_EQ(value, std::nullopt);
}

TEST(Rare, EqualsAnOptionalOfTheSameContents) {
  const std::optional<int> none;
  const std::optional<int> three = 3;
  EXPECT_TRUE(Rare<int>() == none);
  EXPECT_TRUE(Rare<int>(3) == three);
  EXPECT_FALSE(Rare<int>(4) == three);
  EXPECT_FALSE(Rare<int>() == three);
  EXPECT_FALSE(Rare<int>(3) == none);
}

}  // namespace
}  // namespace berth::rare_test
