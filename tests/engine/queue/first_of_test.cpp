#include "engine/queue/first_of.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <vector>

namespace berth::engine::first_of_test {
namespace {

using Numbers = FirstOf<int, std::less<>>;

TEST(FirstOf, GivesTheFirstOfWhatIsThere) {
  Numbers numbers{std::less<>()};
  EXPECT_TRUE(numbers.empty());
  for (const int each : {5, 3, 9}) numbers.add(each);
  EXPECT_EQ(numbers.first(), 3);
  numbers.remove(3);
  EXPECT_EQ(numbers.first(), 5);
  numbers.replace(9, 1);
  EXPECT_EQ(numbers.first(), 1);
  EXPECT_FALSE(numbers.contains(9));
  EXPECT_EQ(numbers.size(), 2u);
}

TEST(FirstOf, AgreesWithASetWhateverHappens) {
  std::mt19937 random(7);
  Numbers numbers{std::less<>()};
  std::set<int> expected;
  const auto some = [&] { return *std::next(expected.begin(), static_cast<int>(random() % expected.size())); };
  for (int step = 0; step < 20'000; ++step) {
    const int fresh = static_cast<int>(random() % 100'000);
    const bool known = expected.contains(fresh);
    if (expected.size() < 5 || (random() % 3 == 0 && !known)) {
      if (expected.insert(fresh).second) numbers.add(fresh);
    } else if (random() % 2 == 0) {
      const int gone = random() % 2 == 0 ? *expected.begin() : some();
      numbers.remove(gone);
      expected.erase(gone);
    } else if (!known) {
      const int gone = some();
      numbers.replace(gone, fresh);
      expected.erase(gone);
      expected.insert(fresh);
    }
    ASSERT_EQ(numbers.size(), expected.size());
    ASSERT_EQ(numbers.first(), *expected.begin()) << "step " << step;
  }
}

TEST(FirstOf, ACopyGoesOnByItself) {
  Numbers numbers{std::less<>()};
  for (const int each : {5, 3}) numbers.add(each);
  Numbers copy(numbers, std::less<>());
  copy.remove(3);
  EXPECT_EQ(copy.first(), 5);
  EXPECT_EQ(numbers.first(), 3);
}

}  // namespace
}  // namespace berth::engine::first_of_test
