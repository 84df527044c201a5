#include "base/shared_blocks.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::shared_blocks_test {

using Words = SharedBlocks<std::string, 4>;

TEST(SharedBlocks, GrowsByDefaultValuesAndNeverShrinks) {
  Words words;
  words.grow(9);
  words.change(8) = "last";
  words.grow(3);
  EXPECT_EQ(words.size(), 9U);
  EXPECT_EQ(words[0], "");
  EXPECT_EQ(words[8], "last");
}

TEST(SharedBlocks, ACopySharesWhatNeitherSideChanges) {
  Words one;
  one.grow(8);
  one.change(0) = "a";
  one.change(7) = "b";
  Words other = one;
  EXPECT_EQ(&one[0], &other[0]);
  other.change(1) = "c";
  EXPECT_NE(&one[0], &other[0]);
  EXPECT_EQ(&one[7], &other[7]);
  EXPECT_EQ(one[1], "");
  EXPECT_EQ(other[0], "a");
  one.change(7) = "d";
  EXPECT_EQ(other[7], "b");
  // A block that is no longer shared is changed in place.
  const std::string* at = &one[7];
  one.change(7) = "e";
  EXPECT_EQ(&one[7], at);
}

}  // namespace berth::shared_blocks_test
