#include "embedded/cluster/job_indexes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace berth::cluster::job_indexes_test {
namespace {

TEST(IndexSet, ReadsAndWritesIntervals) {
  const struct {
    const char *text, *back;
    std::int64_t count;
  } cases[] = {
      {"", "", 0},
      {"0", "0", 1},
      {"0,1", "0,1", 2},
      {"0-1", "0,1", 2},
      {"0-2", "0-2", 3},
      {"1,3-5,7", "1,3-5,7", 5},
      {"3-5,4-6,1", "1,3-6", 5},
      {"8,9-20", "8,9", 2},
      {"2,x,3", "2", 1},
      {"5-3", "", 0},
      {"-1", "", 0},
      {"9-100", "9", 1},
  };
  for (const auto& c : cases) {
    const auto set = IndexSet::parse(c.text, 10);
    EXPECT_EQ(set.to_string(), c.back) << c.text;
    EXPECT_EQ(set.count(), c.count) << c.text;
  }
}

RC_GTEST_PROP(IndexSetLaws, AgreesWithASetOfNumbers, ()) {
  const auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  IndexSet set;
  for (const int number : numbers) set.add(number);
  const std::set<int> reference(numbers.begin(), numbers.end());
  RC_ASSERT(set.count() == static_cast<std::int64_t>(reference.size()));
  for (int i = 0; i < 41; ++i) RC_ASSERT(set.contains(i) == reference.contains(i));
  RC_ASSERT(IndexSet::parse(set.to_string(), 40) == set);
}

}  // namespace
}  // namespace berth::cluster::job_indexes_test
