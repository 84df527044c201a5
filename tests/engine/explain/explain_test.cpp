// What Engine::explain() says of waiting and of admitted workloads, and that the changes it names do what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "engine/explain/full_cluster.h"
#include "engine/explain/rehearsal.h"
#include "engine/lifecycle/state.h"
#include "support/sanitized.h"

namespace berth::engine::explain_test {
namespace {

using test::ClusterQueueBuilder;
using test::explain;
using test::FullCluster;
using test::Scenario;
using test::WorkloadBuilder;

const Change* find(const Explanation& e, Change::Kind kind) {
  const auto it = std::ranges::find(e.changes, kind, &Change::kind);
  return it == e.changes.end() ? nullptr : &*it;
}

class ExplainOneQueue : public testing::Test {
 protected:
  ExplainOneQueue() {
    s_.give(test::flavor("f"));
    s_.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    s_.give(test::local_queue("q", "cq"));
    s_.give(WorkloadBuilder("runs").pods(3, "1").max_seconds(600));
    s_.run();
  }
  Scenario s_;
};

TEST_F(ExplainOneQueue, SaysWhatIsMissingAndWhoHoldsIt) {
  s_.give(WorkloadBuilder("waits").pods(2, "1").created(test::at(1)));
  s_.run();
  const Explanation e = explain(s_, "waits");
  EXPECT_EQ(e.state, "Pending");
  EXPECT_EQ(e.position, std::optional<std::size_t>(0));
  ASSERT_EQ(e.shortages.size(), 1U);
  const auto& shortage = e.shortages[0];
  EXPECT_EQ(shortage.missing, Amount::of(1000));
  ASSERT_EQ(shortage.holders.size(), 1U);
  EXPECT_EQ(shortage.holders[0].workload, "ns/runs");
  EXPECT_EQ(shortage.holders[0].ends_by, std::optional(s_.now() + std::chrono::seconds(600)));
  ASSERT_TRUE(e.forecast.has_value());
  EXPECT_EQ(e.forecast->at, s_.now() + std::chrono::seconds(600));
  EXPECT_EQ(e.forecast->ended, 1U);
  const Change* raise = find(e, Change::Kind::kRaiseNominalQuota);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->text, "Raise the nominalQuota of ClusterQueue cq: cpu of flavor f from 4 to 5.");
  const Change* end = find(e, Change::Kind::kEndWorkload);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->workload, "ns/runs");
  const Change* fewer = find(e, Change::Kind::kReducePods);
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->pods, 1);
}

TEST_F(ExplainOneQueue, AnElasticJobHasNoMinimum) {
  s_.give(WorkloadBuilder("runs", "q").pods(3, "1"));
  s_.give(
      WorkloadBuilder("waits", "q").pods(2, "1").created(test::at(1)).annotate("kueue.x-k8s.io/elastic-job", "true"));
  s_.run();
  EXPECT_EQ(find(explain(s_, "waits"), Change::Kind::kReducePods), nullptr);
}

TEST_F(ExplainOneQueue, TheRaiseCoversThoseWhoGoFirst) {
  s_.give(WorkloadBuilder("first").pods(3, "1").created(test::at(1)));
  s_.give(WorkloadBuilder("second").pods(2, "1").created(test::at(2)));
  s_.run();
  const Explanation e = explain(s_, "second");
  EXPECT_EQ(e.position, std::optional<std::size_t>(1));
  ASSERT_EQ(e.ahead.size(), 1U);
  EXPECT_EQ(e.ahead[0].workload, "ns/first");
  const Change* raise = find(e, Change::Kind::kRaiseNominalQuota);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->quotas[0].to, Amount::of(5000)) << "one more is too little for the first, so the second gets it";
}

TEST_F(ExplainOneQueue, InAStrictQueueTheHeadMustFitToo) {
  s_.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).strict());
  s_.give(WorkloadBuilder("first").pods(3, "1").created(test::at(1)));
  s_.give(WorkloadBuilder("second").pods(1, "1").created(test::at(2)));
  s_.run();
  const Explanation e = explain(s_, "second");
  const Change* raise = find(e, Change::Kind::kRaiseNominalQuota);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->quotas[0].to, Amount::of(7000));
}

// Each pod set fits into the one cpu that is left, both do not.
TEST_F(ExplainOneQueue, PodSetsThatDoNotFitTogetherAreReported) {
  s_.give(WorkloadBuilder("first").pods(2, "1").created(test::at(1)));
  auto pair = WorkloadBuilder("pair").created(test::at(2)).build();
  pair.pod_sets.push_back(pair.pod_sets[0]);
  pair.pod_sets[1].name = "other";
  s_.give(pair);
  s_.run();
  const Explanation e = explain(s_, "pair");
  EXPECT_EQ(e.position, std::optional<std::size_t>(1));
  EXPECT_EQ(e.summary, "Quota is missing in ClusterQueue cq: 1 of cpu in flavor f.");
  ASSERT_EQ(e.shortages.size(), 3U);
  EXPECT_EQ(e.shortages[2].pod_sets.size(), 2U);
  EXPECT_EQ(e.shortages[2].wanted, Amount::of(2000));
  EXPECT_EQ(e.shortages[2].missing, Amount::of(1000));
  ASSERT_EQ(e.shortages[2].holders.size(), 1U);
}

TEST_F(ExplainOneQueue, AFlavorThatCannotBeUsedIsNoFit) {
  auto labelled = test::flavor("f");
  labelled.node_labels = {{"rack", "r1"}};
  s_.give(labelled);
  s_.give(WorkloadBuilder("elsewhere")
              .requests(1, R"({"cpu":"1"})", R"("nodeSelector":{"rack":"r9"})")
              .created(test::at(1)));
  s_.run();
  const Explanation e = explain(s_, "elsewhere");
  EXPECT_EQ(e.summary,
            "It can never fit: pod set main may not use any flavor of ClusterQueue cq: flavor f doesn't match node "
            "affinity: the pods ask for rack=r9, its nodes have rack=r1.");
}

TEST_F(ExplainOneQueue, OnlyThoseWhoCanStartWithFewerPodsAreReported) {
  const auto offered = [&](WorkloadBuilder builder, const std::string& owner_kind, const std::string& api_version) {
    auto workload = builder.pods(2, "1").created(test::at(1)).build();
    for (auto& owner : workload.meta.owners)
      std::tie(owner.kind, owner.api_version) = std::tie(owner_kind, api_version);
    s_.give(workload);
    s_.run();
    return find(explain(s_, workload.meta.name), Change::Kind::kReducePods) != nullptr;
  };
  EXPECT_TRUE(offered(WorkloadBuilder("job"), "Job", "batch/v1"));
  EXPECT_FALSE(offered(WorkloadBuilder("training"), "PyTorchJob", "kubeflow.org/v1"));
}

TEST_F(ExplainOneQueue, NamesWhatKeepsAWorkloadFromTheQueue) {
  s_.give(WorkloadBuilder("off").inactive());
  s_.give(WorkloadBuilder("gated").annotate("kueue.x-k8s.io/admission-gated-by", "x.com/gate"));
  s_.give(WorkloadBuilder("lost", "nowhere"));
  s_.run();
  const auto reason = [&](const std::string& name) {
    const Explanation e = explain(s_, name);
    return e.blockers.empty() ? std::string() : e.blockers[0].reason;
  };
  EXPECT_EQ(reason("off"), "Deactivated");
  EXPECT_EQ(reason("gated"), "AdmissionGated");
  EXPECT_EQ(reason("lost"), "Misconfigured");
  EXPECT_FALSE(s_.engine().explain(s_.now(), "ns", "nobody").has_value());
}

TEST_F(ExplainOneQueue, SaysHowAQueueAdmitsAgain) {
  s_.give(WorkloadBuilder("waits").pods(2, "1").created(test::at(1)));
  const auto remedy = [&] {
    s_.run();
    const Explanation e = explain(s_, "waits");
    return e.blockers.empty() ? std::string() : e.blockers[0].remedy;
  };
  auto queue = ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build();
  queue.stop_policy = api::kueue::StopPolicy::kHold;
  s_.give(queue);
  EXPECT_EQ(remedy(), "Set spec.stopPolicy of the ClusterQueue to None: berth resume clusterqueue cq");
  auto local = test::local_queue("q", "cq");
  local.stop_policy = api::kueue::StopPolicy::kHold;
  s_.give(local);
  EXPECT_EQ(remedy(), "Set spec.stopPolicy of the LocalQueue to None: berth resume localqueue q -n ns");
  s_.give(test::local_queue("q", "nowhere"));
  EXPECT_EQ(remedy(), "Create the ClusterQueue nowhere.");
  s_.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}, {"lost", "4"}}));
  s_.give(test::local_queue("q", "cq"));
  EXPECT_TRUE(remedy().starts_with("Repair the ClusterQueue cq: ")) << remedy();
}

TEST_F(ExplainOneQueue, SaysWhereAnAdmittedWorkloadRuns) {
  const Explanation e = explain(s_, "runs");
  EXPECT_EQ(e.state, "Admitted");
  ASSERT_EQ(e.assigned.size(), 1U);
  EXPECT_EQ(e.assigned[0].count, 3);
  EXPECT_EQ(e.assigned[0].flavors, (std::vector<std::pair<std::string, std::string>>{{"cpu", "f"}}));
  EXPECT_TRUE(e.changes.empty());
}

TEST(ExplainNames, ThoseOfOtherNamespacesCanBeHidden) {
  Explanation e;
  e.ns = "team-a";
  e.ahead = {{"team-a/own", 0, {}}, {"team-b/secret", 0, {}}};
  e.shortages.resize(1);
  e.shortages[0].holders = {{"team-b/secret", "cq", Amount::of(1), 0, {}}};
  e.waits_for = e.victims = {"team-b/secret"};
  Change end;
  end.kind = Change::Kind::kEndWorkload;
  end.workload = "team-b/secret";
  end.preempts = {"team-b/secret"};
  end.text = "End or preempt workload team-b/secret. The workload then preempts team-b/secret.";
  e.changes = {end};
  hide_other_namespaces(e);
  const std::string reported = berth::to_string(to_json(e));
  EXPECT_EQ(reported.find("secret"), std::string::npos) << reported;
  EXPECT_NE(reported.find("team-a/own"), std::string::npos) << reported;
}

// --- Changes are carried out.

// The configuration after a change of quotas; `less`: the first step is smaller by this.
api::kueue::ClusterQueue changed(api::kueue::ClusterQueue queue, const Change& change, Amount less = {}) {
  for (std::size_t i = 0; i < change.quotas.size(); ++i) {
    const auto& step = change.quotas[i];
    for (auto& group : queue.resource_groups) {
      for (auto& quotas : group.flavors) {
        if (quotas.name != step.flavor) continue;
        for (auto& quota : quotas.resources) {
          if (quota.name != step.resource) continue;
          const Quantity to = to_quantity(step.resource, i == 0 ? step.to - less : step.to);
          if (change.kind == Change::Kind::kRaiseNominalQuota) {
            quota.nominal = to;
          } else {
            quota.borrowing_limit = to;
          }
        }
      }
    }
  }
  queue.meta.resource_version += "1";
  return queue;
}

// Whether the workload gets quota when this happens.
bool gets_quota(const FullCluster& cluster, const std::string& name, const Event& event) {
  Rehearsal rehearsal(cluster.scenario.engine(), cluster.scenario.now());
  rehearsal.feed(event);
  rehearsal.settle();
  for (const auto& held : rehearsal.engine().held_quotas()) {
    if (held.workload.meta.name == name) return true;
  }
  return false;
}

bool with_queue(const FullCluster& cluster, const std::string& name, api::kueue::ClusterQueue queue) {
  return gets_quota(cluster, name,
                    ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(std::move(queue))});
}

// No smaller raise is enough: neither one unit less nor, of all smaller ones, a multiple of what workloads request.
void expect_smallest(const FullCluster& cluster, const std::string& name, const Change& change) {
  const auto queue = cluster.queue(change.cluster_queue);
  const Amount step = Amount::of(500), whole = change.quotas[0].to - change.quotas[0].from;
  const auto enough = [&](Amount less) { return with_queue(cluster, name, changed(queue, change, less)); };
  EXPECT_FALSE(enough(Amount::of(1))) << change.text << " One unit less is enough for " << name;
  for (Amount less = step; less < whole; less += step)
    EXPECT_FALSE(enough(less)) << change.text << " " << less.count() << " less is enough for " << name;
}

Event carried_out(const FullCluster& cluster, const std::string& name, const Change& change) {
  const auto workload = [&](const std::string& key) {
    return cluster.scenario.workload(key.substr(key.find('/') + 1));
  };
  switch (change.kind) {
    case Change::Kind::kEndWorkload: {
      const auto w = workload(change.workload);
      return WorkloadGone{w.meta.ns, w.meta.name, w.meta.uid};
    }
    case Change::Kind::kRestoreNode:
      return NodeSeen{test::NodeBuilder(change.node, change.node.substr(0, 2)).ptr()};
    case Change::Kind::kReducePods: {
      auto w = workload(name);
      w.pod_sets[0].min_count = change.pods;
      ++w.meta.generation;
      w.meta.resource_version += "1";
      return WorkloadSeen{std::make_shared<const test::Workload>(std::move(w))};
    }
    default:
      return ClusterQueueSeen{
          std::make_shared<const api::kueue::ClusterQueue>(changed(cluster.queue(change.cluster_queue), change))};
  }
}

TEST(Explain, ChangesOfRandomFullClustersDoWhatTheySay) {
  constexpr unsigned kSeeds = 1000 / testing_support::kFewer;
  std::map<Change::Kind, int> carried;
  int waiting = 0, without = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FullCluster cluster(seed);
    auto names = cluster.waiting();
    if (names.empty()) continue;
    const std::string name = names[static_cast<std::size_t>(cluster.pick(static_cast<int>(names.size())))];
    ++waiting;
    const Explanation e = explain(cluster.scenario, name);
    if (e.changes.empty()) ++without;
    for (const Change& change : e.changes) {
      ++carried[change.kind];
      EXPECT_TRUE(gets_quota(cluster, name, carried_out(cluster, name, change))) << name << ": " << change.text;
      if (!change.quotas.empty()) expect_smallest(cluster, name, change);
    }
  }
  std::cout << waiting << " waiting workloads, " << without << " without a change;";
  for (const auto& [kind, n] : carried) std::cout << " " << to_string(kind) << " " << n;
  std::cout << "\n";
}

}  // namespace
}  // namespace berth::engine::explain_test
