#include "base/shared_rare.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth::shared_rare_test {
namespace {

TEST(SharedRare, IsAValueAsAnOptionalIs) {
  SharedRare<std::string> none, a = std::string("a");
  EXPECT_FALSE(none);
  EXPECT_EQ(none, std::nullopt);
  EXPECT_EQ(*std::as_const(a), "a");
  EXPECT_EQ(a, std::string("a"));
  EXPECT_FALSE(none == a);
  EXPECT_EQ(SharedRare<std::string>(std::string("a")), a);
  const std::optional<std::string> back = a;
  EXPECT_EQ(back, "a");
  none.emplace() = "n";
  EXPECT_EQ(none, std::string("n"));
}

TEST(SharedRare, CopiesShareUntilOneChanges) {
  SharedRare<std::string> a = std::string("a"), copy = a;
  EXPECT_TRUE(copy.shares_with(a));
  copy->append("b");
  EXPECT_FALSE(copy.shares_with(a));
  EXPECT_EQ(a, std::string("a"));
  EXPECT_EQ(copy, std::string("ab"));
}

}  // namespace
}  // namespace berth::shared_rare_test
