// Whom a workload spares, in its message and back.
#include "engine/schedule/protected_words.h"

#include <gtest/gtest.h>

namespace berth::engine::protected_words_test {
namespace {

using Uids = std::vector<std::string>;

TEST(ProtectedWords, SayAndReadWhomAWorkloadSpares) {
  const std::string text = "insufficient unused quota" + protected_text(1, {"u1", "u2"});
  EXPECT_EQ(text,
            "insufficient unused quota. 1 workload(s) could be preempted, but would then preempt this one or come back "
            "in turn (UIDs: u1, u2); it is tried again when a workload of the cohort ends or its quota changes");
  EXPECT_EQ(protected_uids(text), (Uids{"u1", "u2"}));
  EXPECT_EQ(protected_uids(text + ". Workload requires preemption, but it's gated by: a"), (Uids{"u1", "u2"}));
}

TEST(ProtectedWords, OtherMessagesNameNobody) {
  EXPECT_EQ(protected_uids(""), Uids());
  EXPECT_EQ(protected_uids("couldn't assign flavors to pod set main: insufficient unused quota"), Uids());
  std::string text = protected_text(1, {"u1"});
  text.resize(text.size() - 1);
  EXPECT_EQ(protected_uids(text), Uids()) << "a message that was cut";
}

TEST(ProtectedWords, NameABoundedNumber) {
  Uids many;
  for (std::size_t i = 0; i < kMostProtectedNamed + 1; ++i) many.push_back("u" + std::to_string(10 + i));
  const std::string text = protected_text(2, many);
  many.pop_back();
  EXPECT_NE(text.find(many.back() + ", ...); it is tried"), std::string::npos) << text;
  EXPECT_EQ(protected_uids(text), many);
}

}  // namespace
}  // namespace berth::engine::protected_words_test
