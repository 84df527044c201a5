// A workload is said to never fit if and only if it gets no quota in the same cluster without any other workload.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>

#include "engine/explain/full_cluster.h"
#include "engine/explain/rehearsal.h"
#include "engine/racks.h"
#include "engine/schedule/ever.h"
#include "support/sanitized.h"

namespace berth::engine::ever_test {
namespace {

using test::ClusterQueueBuilder;
using test::explain;
using test::FullCluster;
using test::Scenario;
using test::WorkloadBuilder;

// Whether the workload gets quota when all others are gone; with `pods` its first pod set has that many.
bool admitted_alone(const Scenario& s, const std::string& name, std::optional<std::int32_t> pods = {}) {
  Rehearsal alone(s.engine(), s.now());
  for (const std::string& other : s.names()) {
    if (other != name && alone.find("ns/" + other)) alone.change(WorkloadGone{"ns", other, "uid-" + other});
  }
  std::string key = "ns/" + name;
  if (pods) {
    auto w = s.workload(name);
    alone.change(WorkloadGone{"ns", name, w.meta.uid});
    w.meta.name = "fewer";
    w.meta.uid = "uid-fewer";
    w.meta.resource_version += "1";
    w.pod_sets[0].count = *pods;
    w.pod_sets[0].min_count.reset();
    w.status = {};
    alone.change(WorkloadSeen{std::make_shared<const test::Workload>(std::move(w))});
    key = "ns/fewer";
  }
  alone.settle();
  for (const auto& held : alone.held()) {
    if (held.key == key) return true;
  }
  return false;
}

TEST(NeverFits, IsSaidOfRandomWorkloadsIfAndOnlyIfTheyDoNotFitAlone) {
  constexpr unsigned kSeeds = 1000 / testing_support::kFewer;
  std::map<std::string, int> said;
  int waiting = 0, numbers = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FullCluster cluster(seed);
    const Scenario& s = cluster.scenario;
    for (const std::string& name : cluster.waiting()) {
      ++waiting;
      const Explanation e = explain(s, name);
      ASSERT_EQ(e.never.empty(), admitted_alone(s, name)) << name << ": " << e.never;
      if (s.condition(name, "QuotaReserved").find(kNeverFits) != std::string::npos) {
        ++said["condition"];
        EXPECT_NE(e.never, "") << s.condition(name, "QuotaReserved");
      }
      if (e.never.empty()) continue;
      ++said[e.never.find("place") == std::string::npos ? "quota" : "places"];
      EXPECT_EQ(e.summary, e.never);
      ASSERT_TRUE(e.never_at_most.has_value()) << e.never;
      ++numbers;
      const std::int32_t most = *e.never_at_most;
      EXPECT_LT(most, s.workload(name).pod_sets[0].count);
      if (most > 0) EXPECT_TRUE(admitted_alone(s, name, most)) << e.never;
      EXPECT_FALSE(admitted_alone(s, name, most + 1)) << e.never;
    }
  }
  std::cout << waiting << " waiting workloads, " << numbers << " largest numbers;";
  for (const auto& [what, n] : said) std::cout << " " << what << " " << n;
  std::cout << "\n";
  EXPECT_GT(said["quota"], 50);
  EXPECT_GT(said["places"], static_cast<int>(kSeeds / 50));
  EXPECT_GT(said["condition"], 50);
}

// The cluster is busy: Kueue's text names only quota.
TEST(NeverFits, IsSaidOfAGangThatNoRackHolds) {
  racks::Racks s;
  s.give(WorkloadBuilder("gang").pods(28, "2").required("rack").created(test::at(1)));
  s.give(WorkloadBuilder("alike").pods(28, "2").required("rack").created(test::at(2)));
  s.run();
  const Explanation e = explain(s, "gang");
  ASSERT_TRUE(e.never_at_most.has_value()) << e.summary;
  EXPECT_NE(e.never.find("at most " + std::to_string(*e.never_at_most) + " of 28 pods"), std::string::npos) << e.never;
  for (const char* name : {"gang", "alike"})
    EXPECT_NE(s.condition(name, "QuotaReserved").find(e.never.substr(0, e.never.size() - 1)), std::string::npos)
        << s.condition(name, "QuotaReserved");
  const int writes = s.writes();
  s.pass(600);
  EXPECT_EQ(s.writes(), writes) << "what was said is not said again";
}

TEST(NeverFits, IsTakenBackWhenTheNodesGrow) {
  Scenario s;
  s.give(test::topology("t"));
  s.give(test::placed_flavor("f", "t"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "100"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(test::NodeBuilder("n1", "r1"));
  s.give(WorkloadBuilder("gang").pods(2, "3").required("rack").created(test::at(1)));
  s.pass(60);
  EXPECT_NE(s.condition("gang", "QuotaReserved").find("no rack has place for its pods"), std::string::npos)
      << s.condition("gang", "QuotaReserved");
  EXPECT_NE(s.condition("gang", "QuotaReserved").find("at most 1 of 2 pods"), std::string::npos);
  s.give(WorkloadBuilder("fills").pods(1, "3").priority(1).created(test::at(2)));
  s.pass(60);
  s.give(test::NodeBuilder("n2", "r1"));
  s.pass(60);
  EXPECT_EQ(s.condition("gang", "QuotaReserved").find(kNeverFits), std::string::npos)
      << s.condition("gang", "QuotaReserved");
}

// 8^12 combinations of flavors end at the last pod set, which no flavor holds, or which is too much beside the others.
TEST(NeverFits, IsSaidOfManyPodSetsAndFlavorsWithoutTryingAllCombinations) {
  for (const char* last : {"200", "60"}) {
    Scenario s;
    std::vector<test::FlavorSpec> quotas;
    for (const char* name : {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"}) {
      quotas.push_back({name, "100"});
      s.give(test::flavor(name));
    }
    s.give(ClusterQueueBuilder("cq").cpu(quotas));
    s.give(test::local_queue("q", "cq"));
    test::Workload w = WorkloadBuilder("wide").pods(1, "60");
    for (int i = 1; i < 13; ++i) {
      w.pod_sets.push_back(w.pod_sets.front());
      w.pod_sets.back().name = "set" + std::to_string(i);
    }
    w.pod_sets.back().template_ = test::Workload(WorkloadBuilder("x").pods(1, last)).pod_sets.front().template_;
    s.give(w);
    s.run();
    EXPECT_EQ(explain(s, "wide").never.empty(), std::string_view(last) == "60") << "too many to be sure";
  }
}

TEST(NeverFits, NamesTheCause) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("one").pods(1, "8"));
  s.give(WorkloadBuilder("many").pods(6, "1"));
  s.give(WorkloadBuilder("other").requests(1, R"({"memory":"1Gi"})"));
  s.run();
  EXPECT_EQ(explain(s, "one").never,
            "It can never fit: ClusterQueue cq has at most 4 of cpu in a flavor (f), with all that it may borrow; not "
            "even one pod of pod set main fits.");
  EXPECT_EQ(explain(s, "many").never_at_most, 4);
  EXPECT_EQ(explain(s, "other").never, "It can never fit: ClusterQueue cq has no quota for memory.");
}

}  // namespace
}  // namespace berth::engine::ever_test
