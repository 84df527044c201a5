// what_if() says what then happens when the same change is made.
#include "engine/explain/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/explain/full_cluster.h"
#include "engine/explain/rehearsal.h"
#include "engine/racks.h"
#include "support/sanitized.h"

namespace berth::engine::what_if_test {
namespace {

using test::ClusterQueueBuilder;
using test::FullCluster;
using test::Scenario;
using test::WorkloadBuilder;

Event seen(api::kueue::ClusterQueue queue) {
  queue.meta.resource_version += "1";
  return ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(std::move(queue))};
}

TEST(WhatIf, MoreQuotaAdmitsTheNextAndTellsTheUsage) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("runs").pods(3, "1"));
  s.give(WorkloadBuilder("waits").pods(2, "1").created(test::at(1)));
  s.run();
  const WhatIf more = what_if(s.engine(), s.now(), {seen(ClusterQueueBuilder("cq").cpu({{"f", "5"}}))});
  ASSERT_EQ(more.admitted.size(), 1U);
  EXPECT_EQ(more.admitted[0].workload, "ns/waits");
  EXPECT_EQ(more.admitted[0].after, "main 2 x f");
  ASSERT_EQ(more.queues.size(), 1U);
  EXPECT_EQ(more.queues[0].pending_before, 1);
  EXPECT_EQ(more.queues[0].pending_after, 0);
  ASSERT_EQ(more.queues[0].usage.size(), 1U);
  EXPECT_EQ(more.queues[0].usage[0].after, Amount::of(5000));
  EXPECT_EQ(s.state("waits"), "Pending") << "the engine itself is unchanged";

  const WhatIf gone = what_if(s.engine(), s.now(), {WorkloadGone{"ns", "runs", "uid-runs"}});
  ASSERT_EQ(gone.gone.size(), 1U);
  EXPECT_EQ(gone.gone[0].workload, "ns/runs");
  EXPECT_EQ(gone.admitted.size(), 1U);

  const WhatIf nothing = what_if(s.engine(), s.now(), {});
  EXPECT_TRUE(nothing.admitted.empty() && nothing.waiting.empty() && nothing.queues.empty());
}

// Messages are written at a limited rate: nobody waits for them here.
TEST(WhatIf, ANewJobIsInformedWhyItWaitsAndWhere) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("runs").pods(4, "1"));
  s.run();
  for (int i = 0; i < 300; ++i)
    s.give(WorkloadBuilder("w" + std::to_string(i)).pods(2, "1").created(test::at(1)).priority(i));
  s.run();
  auto job = WorkloadBuilder("new").pods(2, "1").priority(1000).created(test::at(2)).build();
  job.meta.resource_version = std::to_string(Rehearsal::kNewest);
  const WhatIf reported =
      what_if(s.engine(), s.now(), {WorkloadSeen{std::make_shared<const test::Workload>(std::move(job))}});
  ASSERT_EQ(reported.waiting.size(), 1U);
  EXPECT_EQ(reported.waiting[0].workload, "ns/new");
  EXPECT_EQ(reported.waiting[0].cluster_queue, "cq");
  EXPECT_EQ(reported.waiting[0].text,
            "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, "
            "2 more needed");
}

// Of two namespaces that share a queue, one asks: it learns how many of the other's workloads lose their place.
TEST(WhatIf, HidesOtherNamespacesButForTheirNumber) {
  Scenario s;
  s.give_namespace("secret", {});
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).preempt_lower());
  s.give(ClusterQueueBuilder("elsewhere").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  auto theirs = test::local_queue("q", "cq");
  theirs.meta.ns = "secret";
  s.give(theirs);
  const auto of = [](const char* ns, const char* name, int pods, int priority) {
    auto w = WorkloadBuilder(name).pods(pods, "1").priority(priority).build();
    w.meta.ns = ns;
    w.meta.resource_version = std::to_string(Rehearsal::kNewest);
    return w;
  };
  s.give(of("secret", "hidden-one", 2, 0));
  s.give(of("secret", "hidden-two", 1, 0));
  s.give(WorkloadBuilder("own").pods(1, "1"));
  s.run();
  const auto job = [&](const char* name, int priority) {
    return WorkloadSeen{std::make_shared<const test::Workload>(of("ns", name, 4, priority))};
  };
  const RunHistory history;
  for (const int priority : {5, 0}) {
    WhatIf reported = what_if(s.engine(), s.now(), {job("new", priority)}, &history);
    hide_other_namespaces(reported, "ns");
    const std::string text = berth::to_string(to_json(reported));
    EXPECT_EQ(text.find("hidden"), std::string::npos) << text;
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    EXPECT_EQ(text.find("elsewhere"), std::string::npos) << text;
    ASSERT_TRUE(reported.others);
    EXPECT_EQ(reported.others->preempted, priority == 5 ? 2U : 0U);
    EXPECT_EQ(reported.others->waiting, priority == 5 ? 2U : 0U);
    EXPECT_EQ(reported.preempted.size(), priority == 5 ? 1U : 0U) << "its own is named";
    ASSERT_EQ(reported.arrivals.size(), 1U);
    EXPECT_EQ(reported.arrivals[0].cluster_queue, "cq");
    EXPECT_EQ(reported.arrivals[0].got.empty(), priority == 0);
    EXPECT_EQ(int_at(to_json(reported), {"otherNamespaces", "preempted"}), priority == 5 ? 2 : 0);
  }
}

// Of a new job that waits: why, what would change that, and when it starts.
TEST(WhatIf, ANewJobIsExplainedAndPredicted) {
  Scenario s;
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  auto runs = WorkloadBuilder("runs").pods(4, "1").build();
  runs.maximum_execution_time_seconds = 60;
  s.give(runs);
  s.run();
  const auto change = [](const char* name, int pods) {
    auto job = WorkloadBuilder(name).pods(pods, "1").created(test::at(2)).build();
    job.meta.resource_version = std::to_string(Rehearsal::kNewest);
    return WorkloadSeen{std::make_shared<const test::Workload>(std::move(job))};
  };
  const RunHistory history;
  const WhatIf reported = what_if(s.engine(), s.now(), {change("later", 2), change("never", 9)}, &history);
  ASSERT_EQ(reported.arrivals.size(), 2U);
  EXPECT_EQ(reported.arrivals[0].workload, "ns/later");
  ASSERT_TRUE(reported.arrivals[0].explanation);
  EXPECT_FALSE(reported.arrivals[0].explanation->changes.empty());
  ASSERT_TRUE(reported.arrivals[0].prediction && reported.arrivals[0].prediction->p90);
  EXPECT_GT(*reported.arrivals[0].prediction->p90, s.now());
  ASSERT_TRUE(reported.arrivals[1].prediction);
  EXPECT_FALSE(reported.arrivals[1].prediction->p50);
  EXPECT_FALSE(reported.arrivals[1].prediction->never.empty());
  EXPECT_TRUE(what_if(s.engine(), s.now(), {change("later", 2)}).arrivals.empty()) << "without a history";
  EXPECT_EQ(array_at(to_json(reported), {"arrivals"}).size(), 2U);
  const WhatIf both =
      what_if(s.engine(), s.now(), {WorkloadGone{"ns", "runs", "uid-runs"}, change("later", 2)}, &history);
  ASSERT_EQ(both.arrivals.size(), 1U);
  EXPECT_EQ(both.arrivals[0].got, "main 2 x f");
  EXPECT_FALSE(both.arrivals[0].prediction) << "it does not wait";
}

// Pods of a workload that is gone leave their nodes, and so do those of a node that is gone.
TEST(WhatIf, PodsLeaveTheNodes) {
  racks::Racks s;
  s.give(WorkloadBuilder("b").pods(6, "2").required("rack").created(test::at(1)));
  s.run();
  s.give(WorkloadBuilder("c").pods(4, "2").required("rack").created(test::at(2)));
  s.run();
  ASSERT_EQ(s.state("c"), "Pending") << "rack r1 has two places, r2 is full";
  const WhatIf without_a = what_if(s.engine(), s.now(), {WorkloadGone{"ns", "a", "uid-a"}});
  ASSERT_EQ(without_a.admitted.size(), 1U);
  EXPECT_EQ(without_a.admitted[0].workload, "ns/c");
  const WhatIf without_rack = what_if(s.engine(), s.now(), {NodeGone{"r1-n1"}, NodeGone{"r1-n2"}, NodeGone{"r1-n3"}});
  ASSERT_EQ(without_rack.waiting.size(), 1U);
  EXPECT_EQ(without_rack.waiting[0].workload, "ns/a");
}

// waitForPodsReady.blockAdmission: the pods of those that are admitted become ready.
TEST(WhatIf, PodsBecomeReady) {
  Options options;
  options.wait_for_pods_ready.enabled = options.wait_for_pods_ready.block_admission = true;
  Scenario s(options);
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("fills").pods(4, "1"));
  s.run();
  for (const char* name : {"a", "b", "c"}) s.give(WorkloadBuilder(name).created(test::at(1)));
  s.run();
  const WhatIf without = what_if(s.engine(), s.now(), {WorkloadGone{"ns", "fills", "uid-fills"}});
  EXPECT_EQ(without.admitted.size(), 3U);
  EXPECT_TRUE(without.complete);
}

std::set<std::string> keys_of(const std::vector<WhatIf::Item>& items) {
  std::set<std::string> out;
  for (const auto& item : items) out.insert(item.workload.substr(item.workload.find('/') + 1));
  return out;
}

std::set<std::string> with_quota(const Scenario& s) {
  std::set<std::string> out;
  for (const auto& held : s.engine().held_quotas()) out.insert(held.workload.meta.name);
  return out;
}

std::set<std::string> minus(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> out;
  std::ranges::set_difference(a, b, std::inserter(out, out.end()));
  return out;
}

TEST(WhatIf, EqualsWhatThenHappens) {
  constexpr unsigned kSeeds = 300 / testing_support::kFewer;
  int admitted = 0, waiting = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FullCluster cluster(seed);
    Scenario& s = cluster.scenario;
    auto queue = cluster.queue("cq0");
    for (auto& group : queue.resource_groups) {
      for (auto& quotas : group.flavors) quotas.resources[0].nominal = test::quantity(std::to_string(cluster.pick(12)));
    }
    const auto before = with_quota(s);
    const WhatIf reported = what_if(s.engine(), s.now(), {seen(queue)});
    if (!reported.complete) continue;  // some workloads preempt each other for ever
    queue.meta.resource_version += "1";
    s.give(queue);
    s.run();
    const auto after = with_quota(s);
    EXPECT_EQ(keys_of(reported.admitted), minus(after, before));
    EXPECT_EQ(keys_of(reported.waiting), minus(before, after));
    admitted += static_cast<int>(reported.admitted.size());
    waiting += static_cast<int>(reported.waiting.size());
    if (HasFailure()) return;
  }
  EXPECT_GT(admitted, 20);
  EXPECT_GT(waiting, 0);
}

}  // namespace
}  // namespace berth::engine::what_if_test
