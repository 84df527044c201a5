// SHA-1 and SHA-256 against known hashes.
#include "base/digest.h"

#include <gtest/gtest.h>

namespace berth::digest_test {
namespace {

TEST(Sha1, GivesTheKnownSums) {  // FIPS 180-4 examples
  EXPECT_EQ(sha1_digits("abc", 40), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_digits("", 40), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST(Sha256, GivesTheKnownSums) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256_digits("abc", 64), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_digits("", 8), "e3b0c442");
}

TEST(Sha1, IsCutToTheDigits) {
  EXPECT_EQ(sha1_digits("abc", 5), "a9993");
  EXPECT_EQ(sha1_digits("abc", 0), "");
  EXPECT_EQ(sha1_digits("abc", 99).size(), 40u);
}

}  // namespace
}  // namespace berth::digest_test
