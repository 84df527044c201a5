// A guarded callback does nothing once its owner is gone.
#include "base/lifetime.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

namespace berth::lifetime_test {
namespace {

TEST(Lifetime, ItsCallbacksRunUntilItEnds) {
  std::optional<Lifetime> owner(std::in_place);
  int calls = 0;
  const std::function<void(int)> add = owner->guard([&calls](int by) { calls += by; });
  const std::function<void(int)> copy = add;
  add(1);
  copy(2);
  EXPECT_EQ(calls, 3);
  owner.reset();
  add(4);
  copy(8);
  EXPECT_EQ(calls, 3);
}

TEST(Lifetime, CanEndEarly) {
  Lifetime owner;
  int calls = 0;
  const auto count = owner.guard([&calls] { ++calls; });
  owner.end();
  count();
  EXPECT_EQ(calls, 0);
}

TEST(Lifetime, ACallbackMayEndItsOwner) {
  std::optional<Lifetime> owner(std::in_place);
  int calls = 0;
  auto last = owner->guard([&] {
    ++calls;
    owner.reset();
  });
  last();
  last();
  EXPECT_EQ(calls, 1);
}

TEST(Lifetime, ACallbackMayChangeWhatItHolds) {
  const Lifetime owner;
  std::string seen;
  auto twice = owner.guard([&seen, kept = std::string("a")](const std::string& more) mutable { seen = kept += more; });
  twice("b");
  twice("c");
  EXPECT_EQ(seen, "abc");
}

TEST(Lifetime, AWatchTellsWhetherTheOwnerIsThere) {
  std::optional<Lifetime> owner(std::in_place);
  const LifetimeWatch watch = owner->watch();
  EXPECT_TRUE(watch.alive());
  owner.reset();
  EXPECT_FALSE(watch.alive());
}

TEST(Lifetime, EachOwnerHasItsOwn) {
  std::optional<Lifetime> first(std::in_place);
  const Lifetime second;
  int calls = 0;
  const auto both = second.guard(first->guard([&calls] { ++calls; }));
  both();
  first.reset();
  both();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace berth::lifetime_test
