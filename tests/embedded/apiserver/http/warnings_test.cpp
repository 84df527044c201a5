#include "embedded/apiserver/http/warnings.h"

#include <gtest/gtest.h>

namespace berth::apiserver::http::warnings_test {
namespace {

using Texts = std::vector<std::string>;

TEST(Warnings, FewAreSentWhole) {
  EXPECT_EQ(bounded_warnings({"one", "", "two", "one"}), (Texts{"one", "two"}));
  const std::string large(kMaxWarningBytes, 'a');
  EXPECT_EQ(bounded_warnings({large}), Texts{large});
}

TEST(Warnings, ManyAreLeftOut) {
  Texts many;
  for (int i = 0; i < 3'000; ++i) many.push_back("w" + std::to_string(i));
  Texts sent = bounded_warnings(many);
  EXPECT_EQ(sent.size(), kMaxWarnings);
  EXPECT_EQ(sent.back(), "w99");
  for (std::string& text : many) text += std::string(10'000, 'x');
  sent = bounded_warnings(many);
  EXPECT_EQ(sent.size(), kMaxWarningBytes / kMaxCutWarningBytes);
  for (const std::string& text : sent) EXPECT_EQ(text.size(), kMaxCutWarningBytes);
}

TEST(Warnings, AreCutBetweenCharacters) {
  const Texts sent = bounded_warnings({std::string(255, 'a') + "\xc3\xa4" + std::string(kMaxWarningBytes, 'a')});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0], std::string(255, 'a'));
}

}  // namespace
}  // namespace berth::apiserver::http::warnings_test
