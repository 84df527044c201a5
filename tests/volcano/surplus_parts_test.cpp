// The surplus of a PodGroup in parts.
#include "volcano/surplus_parts.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "volcano/group_workloads.h"
#include "volcano/support.h"

namespace berth::volcano::surplus_parts_test {
namespace {

using api::kueue::Workload;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::resources;
using Sizes = std::vector<std::int64_t>;

std::optional<Workload> surplus(std::string_view running) {
  api::volcano::PodGroup group;
  group.meta.name = "g";
  group.meta.ns = "team";
  group.meta.uid = "u";
  group.min_member = 1;
  group.min_resources = resources("cpu=1");
  group.status.phase = api::volcano::PodGroupPhase::kRunning;
  GroupContext context;
  context.running = resources(running);
  return surplus_of(group, context);
}

std::int64_t sum(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}); }

// Whether some of the parts have exactly so many pods.
bool can_give(const Sizes& sizes, std::int64_t pods) {
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] <= pods) pods -= sizes[i];
  }
  return pods == 0;
}

TEST(SurplusParts, HaveTwiceAsManyPodsAsTheOneBefore) {
  EXPECT_THAT(part_sizes(0, {}), IsEmpty());
  EXPECT_THAT(part_sizes(1, {}), ElementsAre(1));
  EXPECT_THAT(part_sizes(7, {}), ElementsAre(1, 2, 4));
  EXPECT_THAT(part_sizes(9, {{1}, {2}, {4}}), ElementsAre(1, 2, 4, 2));
  EXPECT_THAT(part_sizes(4, {{1}, {2}, {4}}), ElementsAre(1, 2, 1));
}

TEST(SurplusParts, ThatGiveWayShrinkAndTheOthersStay) {
  EXPECT_THAT(part_sizes(5, {{1}, {2, true}, {4}}), ElementsAre(1, 0, 4));
  EXPECT_THAT(part_sizes(6, {{1}, {2, true}, {4}}), ElementsAre(1, 1, 4));
  EXPECT_THAT(part_sizes(3, {{1}, {2, true}, {4}}), ElementsAre(1, 0, 2)) << "other pods ended as well";
  EXPECT_THAT(part_sizes(9, {{1}, {2, true}, {4}}), ElementsAre(1, 2, 4, 2)) << "new ones do not give way";
  EXPECT_THAT(part_sizes(5, {{1}, {0, true}, {4}}), ElementsAre(1, 2, 2)) << "it is gone";
}

TEST(SurplusParts, RequestTogetherWhatTheWholeRequests) {
  const auto whole = surplus("cpu=9500m,nvidia.com/gpu=4,pods=8");
  const auto parts = surplus_parts(whole, {});
  ASSERT_EQ(parts.size(), 3u);
  api::ResourceList all;
  for (const auto& part : parts) {
    for (const auto& [resource, amount] : held_by(*part))
      all[resource] = all.contains(resource) ? all[resource] + amount : amount;
  }
  EXPECT_EQ(all, held_by(*whole));
  EXPECT_EQ(held_by(*parts[2]), resources("cpu=4858m,nvidia.com/gpu=3,pods=4"));
  EXPECT_EQ(parts[0]->meta.name, "team/g/surplus");
  EXPECT_EQ(parts[1]->meta.name, "team/g/surplus/01");
  EXPECT_EQ(parts[1]->meta.uid, whole->meta.uid + "/01");
  EXPECT_EQ(group_of_workload(parts[1]->meta.name), (GroupRef{"team", "g", Part::kSurplus, 1}));
  EXPECT_EQ(surplus_part(*parts[2]).pods, 4);
}

TEST(SurplusParts, WithoutPodsAboveTheMinimumThereIsOne) {
  const auto whole = surplus("cpu=9,pods=1");
  const auto parts = surplus_parts(whole, {});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(held_by(*parts[0]), held_by(*whole));
  EXPECT_TRUE(surplus_parts(std::nullopt, {{1}}).empty());
}

RC_GTEST_PROP(SurplusPartsProperty, AnyNumberOfPodsCanGiveWay, ()) {
  const auto all = *rc::gen::inRange<std::int64_t>(1, 3000);
  const Sizes sizes = part_sizes(all, {});
  RC_ASSERT(sum(sizes) == all);
  RC_ASSERT(sizes.size() <= 12u);
  RC_ASSERT(can_give(sizes, *rc::gen::inRange<std::int64_t>(0, all + 1)));
}

RC_GTEST_PROP(SurplusPartsProperty, PodsThatComeAndGoAreCountedOnce, ()) {
  std::vector<SurplusPart> parts;
  for (int i = 0; i < 20; ++i) {
    const auto pods = *rc::gen::inRange<std::int64_t>(0, 40);
    const Sizes sizes = part_sizes(pods, parts);
    RC_ASSERT(sum(sizes) == pods);
    for (const auto size : sizes) RC_ASSERT(size >= 0);
    std::vector<SurplusPart> now;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      now.push_back({sizes[k], (k < parts.size() && parts[k].evicted) || *rc::gen::inRange(0, 6) == 0});
    parts = now;
  }
}

}  // namespace
}  // namespace berth::volcano::surplus_parts_test
