// The message of a workload that was not evaluated because an equivalent one was.
#include "engine/schedule/bypassed.h"

#include <gtest/gtest.h>

#include "world.h"

namespace berth::engine::bypassed_test {
namespace {

const std::string kStart = std::string(kBypassed) + ": ";

TEST(Bypassed, NamesWhoWasEvaluatedOnlyWithinItsNamespace) {
  EXPECT_EQ(bypassed_text("a/two", "a/one", "uid-1", "too big"), kStart + "a/one: too big");
  EXPECT_EQ(bypassed_text("b/two", "a/one", "uid-1", "too big"), kStart + "uid-1: too big");
  EXPECT_EQ(verdict_in(kStart + "uid-1: too big: 5"), "too big: 5");
  for (const std::string& other : {std::string(kBypassed), kStart + "x", std::string("too big: 5")})
    EXPECT_EQ(verdict_in(other), other);
  EXPECT_EQ(bypassed_text("volcano:podgroups/two", "volcano:podgroups/one", "uid-1", "too big"),
            kStart + "uid-1: too big");
  EXPECT_TRUE(reports_verdict(kStart + "a/one: too big"));
  EXPECT_FALSE(reports_verdict(kBypassed));
}

TEST(Bypassed, HearTheVerdictOfTheirClassWhoeverIsGone) {
  World world;
  world.flavor("f");
  world.queue(QueueSpec("q").flavor("f", {{"cpu", "2"}}));
  world.job({.name = "one", .queue = "q", .count = 3});
  world.schedule();
  world.job({.name = "two", .queue = "q", .count = 3, .second = 1});
  world.job({.name = "longer", .queue = "q", .count = 4, .second = 1});
  const auto said = world.schedule();
  ASSERT_EQ(said.size(), 2u);
  const std::string verdict =
      "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor f, previously considered podsets "
      "requests (0) + current podset request (3) > maximum capacity (2). It can never fit: ClusterQueue q has at most "
      "2 "
      "of cpu in a flavor (f), with all that it may borrow; at most 2 of 3 pods of pod set main fit";
  EXPECT_EQ(said[1], "wait two ExceedsMaxQuota: " + kStart + "ns/one: " + verdict);
  world.scheduler.withdraw(world.id("one"));
  world.job({.name = "three", .queue = "q", .count = 3, .second = 2});
  EXPECT_EQ(world.schedule(), std::vector<std::string>{"wait three ExceedsMaxQuota: " + kStart + "ns/one: " + verdict});
  EXPECT_EQ(world.scheduler.check(), std::vector<std::string>{});
}

}  // namespace
}  // namespace berth::engine::bypassed_test
