// Names that are meant by others.
#include "base/similar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::similar_test {
namespace {

TEST(Similar, CountsTheCharactersThatDiffer) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Queue", "queue"), 0u);
  EXPECT_EQ(edit_distance("team-a", "team-ab"), 1u);
}

TEST(Similar, FindsTheNearestNameIfOneIsNear) {
  const std::vector<std::string_view> names{"team-alpha", "team-beta", "research"};
  EXPECT_EQ(most_similar("team-bata", names), "team-beta");
  EXPECT_EQ(most_similar("team", names), "team-beta") << "the beginning of two, and the shorter is nearer";
  EXPECT_EQ(most_similar("reserach", names), "research");
  EXPECT_EQ(most_similar("zzz", names), "");
  EXPECT_EQ(most_similar("", names), "");
  EXPECT_EQ(most_similar("x", {}), "");
  const std::string long_name(10'000, 'r');
  EXPECT_EQ(most_similar(long_name, names), "");
}

TEST(Similar, ListsTheNearestNamesFirst) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_first("gpu", {"cpu", "research", "gpus", "gpu-2"}, 3), (Names{"cpu", "gpus", "gpu-2"}));
  EXPECT_EQ(nearest_first("x", {}, 3), Names{});
}

}  // namespace
}  // namespace berth::similar_test
