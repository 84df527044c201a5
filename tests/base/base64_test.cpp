#include "base/base64.h"

#include <gtest/gtest.h>

namespace berth::base64_test {
namespace {

TEST(Base64, KnownValues) {
  for (const auto& [plain, text] :
       {std::pair{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64_encode(plain), text);
    EXPECT_EQ(base64_decode(text), plain);
  }
  EXPECT_EQ(base64_decode("Zm9v\n YmFy\n"), "foobar");
}

TEST(Base64, ForUrls) {
  for (const auto& [plain, text] :
       {std::pair{"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"\xfb\xff\xfe", "-__-"}}) {
    EXPECT_EQ(base64url_encode(plain), text);
    EXPECT_EQ(base64url_decode(text), plain);
  }
  for (const char* bad : {"Z", "Zg=", "Zm9v YmFy", "Zm9v\n", "+//+"}) EXPECT_FALSE(base64url_decode(bad)) << bad;
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* bad : {"Z", "Zg=", "Zg===", "=Zg=", "Zm9v!mFy", "====", "Z=9v"})
    EXPECT_FALSE(base64_decode(bad)) << bad;
}

}  // namespace
}  // namespace berth::base64_test
