// The reason when no flavor fits: of alternatives the mildest reason, of things needed together the worst.
#include <gtest/gtest.h>

#include <array>

#include "world.h"

namespace berth::engine::no_fit_reason_test {
namespace {

enum class Way : int { kFits, kShort, kExceeds, kTainted };

struct Case {
  std::array<Way, 2> cpu, gpu;
};

// A group of two flavors for each resource; the workload requests 3 of each.
std::string reason(const Case& c, bool preempts) {
  World world;
  QueueSpec spec("q");
  if (preempts) spec.within(api::kueue::WithinClusterQueue::kLowerPriority);
  Holding runs{"q", 0, at_second(1), at_second(1), {}, false};
  const auto group = [&](const std::string& resource, const std::array<Way, 2>& ways) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::string flavor = resource + std::to_string(i);
      std::vector<api::Taint> taints;
      if (ways[i] == Way::kTainted) taints.push_back({"dedicated", "", "NoSchedule"});
      world.flavor(flavor, {}, taints);
      spec.flavor(flavor, {{resource, ways[i] == Way::kExceeds ? "2" : "4"}});
      const auto amount = to_amount(resource, Quantity::of(2));
      if (ways[i] == Way::kShort) runs.amounts.push_back({flavor, resource, amount});
    }
  };
  group("cpu", c.cpu);
  group("gpu", c.gpu);
  world.queue(spec);
  world.scheduler.hold(world.id("runs"), runs);
  world.job({.name = "j", .queue = "q", .requests = {{"cpu", "3"}, {"gpu", "3"}}});
  const auto decided = world.schedule();
  if (decided == std::vector<std::string>{"admit j"}) return "";
  const auto* wait = std::get_if<Wait>(&world.last.at(0));
  return wait == nullptr ? decided.at(0) : wait->reason;
}

TEST(NoFitReason, OfAlternativesTheMildest) {
  for (bool preempts : {false, true}) {
    const std::array<Way, 2> fits{Way::kFits, Way::kFits};
    EXPECT_EQ(reason({{Way::kShort, Way::kTainted}, fits}, preempts), "WaitingForQuota");
    EXPECT_EQ(reason({{Way::kTainted, Way::kShort}, fits}, preempts), "WaitingForQuota");
    EXPECT_EQ(reason({{Way::kTainted, Way::kExceeds}, fits}, preempts), "ExceedsMaxQuota");
    EXPECT_EQ(reason({{Way::kExceeds, Way::kTainted}, fits}, preempts), "ExceedsMaxQuota");
    EXPECT_EQ(reason({{Way::kExceeds, Way::kShort}, fits}, preempts), "WaitingForQuota");
    EXPECT_EQ(reason({{Way::kTainted, Way::kTainted}, fits}, preempts), "NoMatchingFlavor");
    EXPECT_EQ(reason({{Way::kTainted, Way::kFits}, fits}, preempts), "");
  }
}

// A flavor that was rejected does not matter when another flavor of its group fits.
TEST(NoFitReason, OfGroupsTheOneThatIsLacking) {
  const std::array<Way, 4> all{Way::kFits, Way::kShort, Way::kExceeds, Way::kTainted};
  const auto mildest = [](const std::array<Way, 2>& ways) { return std::min(ways[0], ways[1]); };
  for (bool preempts : {false, true}) {
    for (Way a : all) {
      for (Way b : all) {
        for (Way c : all) {
          for (Way d : all) {
            const Case each{{a, b}, {c, d}};
            const Way cpu = mildest(each.cpu), gpu = mildest(each.gpu);
            // Groups are visited in reverse order of names, and only until one can never be satisfied.
            const Way worst = gpu > Way::kShort ? gpu : std::max(cpu, gpu);
            const std::array<std::string, 4> names{"", "WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor"};
            EXPECT_EQ(reason(each, preempts), names[static_cast<std::size_t>(worst)])
                << static_cast<int>(a) << static_cast<int>(b) << static_cast<int>(c) << static_cast<int>(d) << preempts;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::engine::no_fit_reason_test
