// Whom a workload spares, in its message and back.
#include "engine/schedule/spared_words.h"

#include <gtest/gtest.h>

namespace berth::engine::spared_words_test {
namespace {

using Uids = std::vector<std::string>;

TEST(SparedWords, SayAndReadWhomAWorkloadSpares) {
  const std::string text = "insufficient unused quota" + spared_text(1, {"u1", "u2"});
  EXPECT_EQ(text,
            "insufficient unused quota. 1 workload(s) could be preempted, but would then preempt this one or come back "
            "in turn (UIDs: u1, u2); it is tried again when a workload of the cohort ends or its quota changes");
  EXPECT_EQ(spared_uids(text), (Uids{"u1", "u2"}));
  EXPECT_EQ(spared_uids(text + ". Workload requires preemption, but it's gated by: a"), (Uids{"u1", "u2"}));
}

TEST(SparedWords, OtherMessagesNameNobody) {
  EXPECT_EQ(spared_uids(""), Uids());
  EXPECT_EQ(spared_uids("couldn't assign flavors to pod set main: insufficient unused quota"), Uids());
  std::string text = spared_text(1, {"u1"});
  text.resize(text.size() - 1);
  EXPECT_EQ(spared_uids(text), Uids()) << "a message that was cut";
}

TEST(SparedWords, NameABoundedNumber) {
  Uids many;
  for (std::size_t i = 0; i < kMostSparedNamed + 1; ++i) many.push_back("u" + std::to_string(10 + i));
  const std::string text = spared_text(2, many);
  many.pop_back();
  EXPECT_NE(text.find(many.back() + ", ...); it is tried"), std::string::npos) << text;
  EXPECT_EQ(spared_uids(text), many);
}

}  // namespace
}  // namespace berth::engine::spared_words_test
