// Pods of workloads with a topology assignment: which pod may be ungated and in which domain, in any order and state
// of the pods.
#include "jobs/ungate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "jobs/ungate_support.h"

namespace berth::jobs::ungate_test {
namespace {

using namespace ungate_support;

// "p0>n1 p1>n1", in the order of the releases.
std::string text(const Releases& releases) {
  std::string out;
  for (const auto& release : releases.pods) {
    out.append(out.empty() ? "" : " ").append(string_at(*release.pod, {"metadata", "name"})).append(">");
    for (const auto& [level, value] : release.node_selector) out.append(out.back() == '>' ? "" : "/").append(value);
  }
  return out;
}

TEST(Releases, GoToThePlaceOfTheirRank) {
  const auto w = on_hosts({{"n1", 2}, {"n2", 1}, {"n3", 2}});
  std::vector<JsonPtr> pods;
  for (const int i : {4, 0, 3, 1, 2}) pods.push_back(pod({.name = "p" + std::to_string(i), .index = i}));
  EXPECT_EQ(text(releases(w, pods, all_up())), "p0>n1 p1>n1 p2>n2 p3>n3 p4>n3");
  // Pods that come later get the place of their rank, too.
  EXPECT_EQ(text(releases(w, {pod({.name = "p3", .index = 3})}, all_up())), "p3>n3");
}

TEST(Releases, FillPlacesInTheirOrderWithoutRanks) {
  const auto w = on_hosts({{"n1", 2}, {"n2", 1}});
  const auto gated = [](std::string name) { return pod({.name = std::move(name)}); };
  EXPECT_EQ(text(releases(w, {gated("c"), gated("a"), gated("d"), gated("b")}, all_up())), "a>n1 b>n1 c>n2");
  EXPECT_EQ(text(releases(w, {gated("c"), pod({.name = "x", .host = "n1"}), gated("a")}, all_up())), "a>n1 c>n2");
}

TEST(Releases, NameAllLevelsWhenTheLowestIsNoNode) {
  const auto w = workload({{{"b1", "r1"}, 1}, {{"b1", "r2"}, 1}}, {"block", "rack"});
  EXPECT_EQ(text(releases(w, {pod({.name = "p0", .index = 0}), pod({.name = "p1", .index = 1})}, all_up())),
            "p0>b1/r1 p1>b1/r2");
}

TEST(Releases, RanksThatDisagreeWithPodsThatWentBeforeAreDropped) {
  // n1 failed and its two places were replaced on n3: ranks 2 and 3 still run on n2.
  const auto w = on_hosts({{"n2", 2}, {"n3", 2}});
  const std::vector<JsonPtr> pods = {pod({.name = "p2", .index = 2, .host = "n2", .phase = "Running"}),
                                     pod({.name = "p3", .index = 3, .host = "n2", .phase = "Running"}),
                                     pod({.name = "q1", .index = 1}), pod({.name = "q0", .index = 0}),
                                     pod({.name = "p0", .index = 0, .host = "n1", .phase = "Failed"})};
  EXPECT_EQ(text(releases(w, pods, all_up())), "q0>n3 q1>n3");
}

TEST(Releases, ATerminatingPodKeepsItsPlaceAndItsRankIsFree) {
  const auto w = on_hosts({{"n1", 1}, {"n2", 1}});
  const auto going = pod({.name = "p0", .index = 0, .host = "n1", .phase = "Running", .terminating = true});
  const auto next = pod({.name = "q0", .index = 0});
  const auto other = pod({.name = "q1", .index = 1});
  EXPECT_EQ(text(releases(w, {going, next, other}, all_up())), "q1>n2") << "its place is taken until it is gone";
  EXPECT_EQ(text(releases(w, {next, other}, all_up())), "q0>n1 q1>n2");
  EXPECT_EQ(text(releases(w, {pod({.name = "g", .index = 0, .terminating = true})}, all_up())), "")
      << "a gated pod that goes away is left alone";
}

TEST(Releases, IndicesBeyondThePlacesAreNoRanks) {
  const auto w = on_hosts({{"n1", 1}, {"n2", 1}});  // parallelism 2, with more completions
  EXPECT_EQ(text(releases(w, {pod({.name = "b", .index = 5}), pod({.name = "a", .index = 3})}, all_up())), "a>n1 b>n2");
}

TEST(Releases, IndicesOfReplicasAndOffsetsMakeRanks) {
  auto w = on_hosts({{"n1", 2}, {"n2", 2}});
  w.pod_sets[0].topology_request->sub_group_index_label = "group";
  w.pod_sets[0].topology_request->sub_group_count = 2;
  const auto member = [](int group, int index) {
    Json out = *pod({.name = "p" + std::to_string(group) + std::to_string(index), .index = index});
    ensure_path(out, {"metadata", "labels", "group"}) = std::to_string(group);
    return std::make_shared<const Json>(std::move(out));
  };
  EXPECT_EQ(text(releases(w, {member(1, 0), member(0, 1), member(1, 1)}, all_up())), "p01>n1 p10>n2 p11>n2");

  const auto plain = on_hosts({{"n1", 1}, {"n2", 1}});
  const auto shifted = [](int index) {
    Json out = *pod({.name = "p" + std::to_string(index), .index = index});
    ensure_path(out, {"metadata", "annotations", "kueue.x-k8s.io/pod-index-offset"}) = "1";
    return std::make_shared<const Json>(std::move(out));
  };
  EXPECT_EQ(text(releases(plain, {shifted(2)}, all_up())), "p2>n2");
}

TEST(Releases, WorkersAreNumberedBehindTheLeaderOfTheirGroup) {
  auto w = on_hosts({{"n1", 1}, {"n2", 1}});
  w.pod_sets[0].name = w.status.admission->pod_set_assignments[0].name = "workers";
  w.pod_sets[0].topology_request->pod_set_group_name = "g";
  PodSet leader = w.pod_sets[0];
  leader.name = "leader";
  leader.count = 1;
  PodSetAssignment place;
  place.name = "leader";
  place.count = 1;
  place.topology_assignment =
      std::make_shared<const TopologyAssignment>(TopologyAssignment{{"kubernetes.io/hostname"}, {{{"n1"}, 1}}});
  w.pod_sets.push_back(leader);
  w.status.admission->pod_set_assignments.push_back(place);
  EXPECT_EQ(text(releases(w,
                          {pod({.name = "p2", .index = 2, .pod_set = "workers"}),
                           pod({.name = "p0", .index = 0, .pod_set = "leader"})},
                          all_up())),
            "p2>n2 p0>n1");
}

TEST(Releases, NeverGoToABadNode) {
  auto w = on_hosts({{"n1", 1}, {"n2", 1}});
  w.status.unhealthy_nodes = {"n1"};
  const std::vector<JsonPtr> ranked = {pod({.name = "p0", .index = 0}), pod({.name = "p1", .index = 1})};
  const std::vector<JsonPtr> plain = {pod({.name = "a"}), pod({.name = "b"})};
  EXPECT_EQ(text(releases(w, ranked, all_up())), "p1>n2");
  EXPECT_EQ(text(releases(w, plain, all_up())), "a>n2");
  EXPECT_FALSE(releases(w, plain, all_up()).wait_for_nodes);

  w.status.unhealthy_nodes.clear();
  HostFacts down = all_up();
  down.usable = [](std::string_view host, const Tolerations&) { return host != "n1"; };
  EXPECT_EQ(text(releases(w, ranked, down)), "p1>n2");
  EXPECT_TRUE(releases(w, ranked, down).wait_for_nodes) << "it may come back";
}

TEST(Releases, NeverGoToANodeWithATaintThatThePodDoesNotTolerate) {
  const auto w = on_hosts({{"n1", 1}, {"n2", 2}});
  HostFacts tainted = all_up();
  tainted.usable = [](std::string_view host, const Tolerations& tolerations) {
    return host != "n1" || api::tolerates(tolerations, {"maintenance", "", "NoSchedule"});
  };
  const auto tolerant = [](const PodSpec& spec) {
    Json out = *pod(spec);
    ensure_path(out, {"spec", "tolerations"}) = JsonArray{JsonObject{{"key", "maintenance"}, {"operator", "Exists"}}};
    return std::make_shared<const Json>(placed_pod(out));
  };
  const std::vector<JsonPtr> ranked = {pod({.name = "p0", .index = 0}), pod({.name = "p1", .index = 1})};
  EXPECT_EQ(text(releases(w, ranked, tainted)), "p1>n2");
  EXPECT_TRUE(releases(w, ranked, tainted).wait_for_nodes) << "the taint may be removed";
  EXPECT_EQ(text(releases(w, {tolerant({.name = "p0", .index = 0}), ranked[1]}, tainted)), "p0>n1 p1>n2");
  EXPECT_EQ(text(releases(w, {pod({.name = "a"}), tolerant({.name = "b"}), pod({.name = "c"})}, tainted)),
            "a>n2 b>n1 c>n2");
}

TEST(Releases, OnlyOfAdmittedWorkloads) {
  const std::vector<JsonPtr> pods = {pod({.name = "a"})};
  auto w = on_hosts({{"n1", 1}});
  EXPECT_EQ(releases(w, pods, all_up()).pods.size(), 1u);
  auto evicted = w;
  evicted.status.conditions.push_back(holds(kEvicted));
  EXPECT_TRUE(releases(evicted, pods, all_up()).pods.empty());
  w.status.conditions.clear();
  EXPECT_TRUE(releases(w, pods, all_up()).pods.empty());
}

// --- Properties.

struct Case {
  Workload workload;
  std::vector<PodSpec> pods;
};

Case random_case() {
  Case c;
  std::vector<std::pair<std::string, std::int32_t>> hosts;
  const int nodes = *rc::gen::inRange(1, 6);
  for (int n = 0; n < nodes; ++n) hosts.emplace_back("n" + std::to_string(n), *rc::gen::inRange(1, 4));
  c.workload = on_hosts(hosts);
  for (int n = 0; n < nodes; ++n)
    if (*rc::gen::inRange(0, 5) == 0) c.workload.status.unhealthy_nodes.push_back("n" + std::to_string(n));
  const bool ranked = *rc::gen::arbitrary<bool>();
  const int pods = *rc::gen::inRange(0, 14);
  for (int i = 0; i < pods; ++i) {
    PodSpec spec;
    spec.name = "p" + std::to_string(i);
    if (ranked) spec.index = *rc::gen::weightedElement<int>({{9, i}, {1, 0}, {1, -1}});
    if (*rc::gen::inRange(0, 3) == 0) spec.host = "n" + std::to_string(*rc::gen::inRange(0, nodes + 1));
    spec.terminating = *rc::gen::inRange(0, 6) == 0;
    spec.phase = *rc::gen::element<std::string>("Pending", "Pending", "Running", "Failed");
    c.pods.push_back(std::move(spec));
  }
  return c;
}

std::vector<JsonPtr> objects(const std::vector<PodSpec>& specs) {
  std::vector<JsonPtr> out;
  for (const auto& spec : specs) out.push_back(pod(spec));
  return out;
}

// The number of pods that hold a place, by host.
std::map<std::string, int> holders(const std::vector<PodSpec>& pods) {
  std::map<std::string, int> out;
  for (const auto& spec : pods)
    if (!spec.host.empty() && spec.phase != "Failed") ++out[spec.host];
  return out;
}

// The pods after the releases have been written.
std::vector<PodSpec> after(std::vector<PodSpec> pods, const Releases& done) {
  for (const auto& release : done.pods)
    for (auto& spec : pods)
      if (spec.name == string_at(*release.pod, {"metadata", "name"}))
        spec.host = release.node_selector.at("kubernetes.io/hostname");
  return pods;
}

RC_GTEST_PROP(ReleasesProperty, NoDomainGetsMoreThanItWasAssignedAndNoBadNodeAny, ()) {
  const Case c = random_case();
  const Releases got = releases(c.workload, objects(c.pods), all_up());
  const auto before = holders(c.pods), now = holders(after(c.pods, got));
  for (const auto& domain : c.workload.status.admission->pod_set_assignments[0].topology_assignment->domains) {
    const std::string& host = domain.values[0];
    const int had = before.contains(host) ? before.at(host) : 0, has = now.contains(host) ? now.at(host) : 0;
    RC_ASSERT(has <= std::max(domain.count, had));
    const auto& bad = c.workload.status.unhealthy_nodes;
    if (std::find(bad.begin(), bad.end(), host) != bad.end()) RC_ASSERT(has == had);
  }
}

RC_GTEST_PROP(ReleasesProperty, AreTheSameInAnyOrderAndOnlyOnce, ()) {
  const Case c = random_case();
  auto pods = objects(c.pods);
  const std::string got = text(releases(c.workload, pods, all_up()));
  std::reverse(pods.begin(), pods.end());
  RC_ASSERT(text(releases(c.workload, pods, all_up())) == got);
  const auto rotated = *rc::gen::inRange<std::size_t>(0, pods.size() + 1);
  std::rotate(pods.begin(), pods.begin() + static_cast<std::ptrdiff_t>(rotated), pods.end());
  RC_ASSERT(text(releases(c.workload, pods, all_up())) == got);
  const auto next = after(c.pods, releases(c.workload, pods, all_up()));
  for (const auto& release : releases(c.workload, objects(next), all_up()).pods)
    RC_ASSERT(got.find(std::string(string_at(*release.pod, {"metadata", "name"})) + ">") == std::string::npos);
}

RC_GTEST_PROP(ReleasesProperty, WithRanksEveryPodGetsItsOwnPlace, ()) {
  Case c = random_case();
  const auto& places = *c.workload.status.admission->pod_set_assignments[0].topology_assignment;
  c.workload.status.unhealthy_nodes.clear();
  const auto total = static_cast<int>(Domains(places).pods());
  c.pods.clear();
  for (int i = 0; i < total; ++i)
    if (*rc::gen::inRange(0, 4) != 0) c.pods.push_back({.name = "p" + std::to_string(i), .index = i});
  const Releases got = releases(c.workload, objects(c.pods), all_up());
  RC_ASSERT(got.pods.size() == c.pods.size());
  for (const auto& release : got.pods) {
    const auto rank = std::stoll(std::string(string_at(*release.pod, {"metadata", "labels", kIndex})));
    const auto expected = places.domains[Domains(places).of_rank(rank)].values[0];
    RC_ASSERT(release.node_selector.at("kubernetes.io/hostname") == expected);
  }
  // The remaining pods get their places when they come, whichever pods were ungated before.
  auto rest = after(c.pods, got);
  for (int i = 0; i < total; ++i) {
    const std::string name = "p" + std::to_string(i);
    if (std::none_of(rest.begin(), rest.end(), [&](const PodSpec& spec) { return spec.name == name; }))
      rest.push_back({.name = name, .index = i});
  }
  const auto full = holders(after(rest, releases(c.workload, objects(rest), all_up())));
  for (const auto& domain : places.domains) RC_ASSERT(full.at(domain.values[0]) == domain.count);
}

RC_GTEST_PROP(ReleasesProperty, WithoutRanksNoPodWaitsWhileAPlaceIsFree, ()) {
  Case c = random_case();
  for (auto& spec : c.pods) spec.index = -1;
  const Releases got = releases(c.workload, objects(c.pods), all_up());
  const auto now = holders(after(c.pods, got));
  std::size_t waiting = 0;
  for (const auto& spec : after(c.pods, got))
    waiting += spec.host.empty() && !spec.terminating && spec.phase != "Failed" ? 1 : 0;
  if (waiting == 0) return;
  for (const auto& domain : c.workload.status.admission->pod_set_assignments[0].topology_assignment->domains) {
    const auto& bad = c.workload.status.unhealthy_nodes;
    if (std::find(bad.begin(), bad.end(), domain.values[0]) != bad.end()) continue;
    RC_ASSERT(now.contains(domain.values[0]) && now.at(domain.values[0]) >= domain.count);
  }
}

}  // namespace
}  // namespace berth::jobs::ungate_test
