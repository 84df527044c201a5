// Random lives of gangs on nodes that fail and come back, with checks, pods, failing writes and restarts. After every
// pass the engine's invariants are checked, and what only API objects can show: no node is overcommitted, and healthy
// places do not change.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/lifecycle/state.h"
#include "engine/support/scenario.h"
#include "support/sanitized.h"

namespace berth::engine::places_random_test {
namespace {

using api::kueue::CheckState;
using api::kueue::Workload;
using lifecycle::State;
using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::PodBuilder;
using test::Scenario;
using test::WorkloadBuilder;

constexpr int kSeeds = 150 / testing_support::kFewer;
constexpr int kSteps = 70;
constexpr int kRacks = 3, kNodesOfRack = 3, kCpuOfNode = 4;
constexpr int kMaxWorkloads = 8;

Options options_of(unsigned seed) {
  Options o;
  o.replace_fail_fast = seed % 2 == 0;
  o.replace_several_nodes = seed % 3 != 0;
  o.replace_on_pod_termination = seed % 5 != 0;
  o.fair_sharing.enabled = seed % 4 == 0;
  return o;
}

class Life {
 public:
  explicit Life(unsigned seed) : random_(seed), s_(options_of(seed)) {
    s_.give(test::topology("t"));
    s_.give(test::placed_flavor("f", "t"));
    s_.give(test::provisioning_check("prov"));
    s_.give(ClusterQueueBuilder("cq0").cpu({{"f", "30"}}).preempt_lower());
    s_.give(ClusterQueueBuilder("cq1").cpu({{"f", "30"}}).check("prov").preempt_lower());
    s_.give(test::local_queue("q0", "cq0"));
    s_.give(test::local_queue("q1", "cq1"));
    for (int rack = 0; rack < kRacks; ++rack) {
      for (int node = 0; node < kNodesOfRack; ++node) {
        const std::string name = "r" + std::to_string(rack) + "-n" + std::to_string(node);
        healthy_since_[name] = Time{};
        s_.give(NodeBuilder(name, "r" + std::to_string(rack), std::to_string(kCpuOfNode)));
      }
    }
    s_.outcome_of_write = [this](const std::string&) {
      if (!faults_ || !chance(15)) return Scenario::Outcome::kDone;
      return chance(50) ? Scenario::Outcome::kConflict : Scenario::Outcome::kFailed;
    };
    s_.answers_that_arrive = [this](std::size_t n) { return faults_ && chance(40) ? pick(n + 1) : n; };
    s_.failed_writes_happen = chance(50);
  }

  void step() {
    const auto before = placed();
    act();
    s_.run_once();
    if (chance(50)) s_.pass(static_cast<int>(pick(5)));
    check(before);
  }

  // Without further faults the engine settles, and its promises hold.
  void settle() {
    faults_ = false;
    for (const auto& [node, since] : healthy_since_) set_node(node, 0);
    s_.pass(300);
    check({});
    for (const auto& name : s_.names()) {
      if (s_.state(name) == "Finished") continue;  // left unchanged
      EXPECT_TRUE(s_.workload(name).status.unhealthy_nodes.empty()) << name << " is " << s_.state(name);
    }
  }

 private:
  void act() {
    switch (pick(11)) {
      case 0:
      case 1:
        return create();
      case 2:
      case 3:
        return set_node(any_node(), static_cast<int>(pick(4)));
      case 4:
        return set_node(any_node(), 0);
      case 5:
        return start_pods();
      case 6:
        return end_pod();
      case 7:
        return check_says();
      case 8:
        return end();
      case 9:
        if (const auto name = any(); !name.empty()) s_.change(name, [](Workload& w) { w.active = !w.active; }, true);
        return;
      default:
        if (chance(30)) return s_.restart();
        if (chance(30)) s_.copy();
    }
  }

  void create() {
    if (s_.names().size() >= kMaxWorkloads) return;
    WorkloadBuilder w("w" + std::to_string(++created_), chance(50) ? "q0" : "q1");
    w.pods(1 + static_cast<int>(pick(5)), std::to_string(1 + pick(2))).priority(static_cast<int>(pick(3)));
    if (chance(60)) w.required(chance(70) ? "rack" : "kubernetes.io/hostname");
    s_.give(w.created(s_.now()));
  }

  void set_node(const std::string& name, int how) {
    if (how != 0 || healthy_since_[name] == Time::max()) healthy_since_[name] = how == 0 ? s_.now() : Time::max();
    NodeBuilder node(name, name.substr(0, 2), std::to_string(kCpuOfNode));
    if (how == 1) return s_.take(NodeGone{name});
    if (how == 2) node.not_ready(s_.now());
    if (how == 3) node.taint("broken", "NoExecute");
    s_.give(node);
  }

  void end() {
    const auto name = any();
    if (name.empty()) return;
    if (chance(40)) return s_.remove(name);
    ended_.insert(name);  // its places are free now, even before that is written
    s_.finish(name);
  }

  void start_pods() {
    const auto name = any();
    if (name.empty() || s_.state(name) != "Admitted") return;
    for (const auto& [node, count] : on_nodes(s_.workload(name))) {
      for (int i = 0; i < count; ++i) {
        const std::string pod = name + "-" + node + "-" + std::to_string(i);
        pods_.insert(pod);
        api::kueue::PodPlacement seen = PodBuilder(pod, name, node);
        seen.requests = {{"cpu", test::quantity("1")}};
        s_.give(seen);
      }
    }
  }
  void end_pod() {
    if (pods_.empty()) return;
    const auto it = std::next(pods_.begin(), static_cast<std::ptrdiff_t>(pick(pods_.size())));
    s_.take(PodGone{"uid-" + *it});
    pods_.erase(it);
  }
  void check_says() {
    const auto name = any();
    if (name.empty()) return;
    const CheckState state = chance(80) ? CheckState::kReady : chance(50) ? CheckState::kPending : CheckState::kRetry;
    s_.report_check(name, test::says("prov", state));
  }

  using Places = std::map<std::string, int>;  // pods by node
  static Places on_nodes(const Workload& w) {
    Places out;
    if (!lifecycle::holds_quota(w.status)) return out;
    const auto& assignment = w.status.admission->pod_set_assignments[0].topology_assignment;
    if (!assignment) return out;
    for (const auto& domain : assignment->domains) out[domain.values.back()] += domain.count;
    return out;
  }
  // Identifies one admission: equal as long as the admission is the same.
  struct Admission {
    Time reserved{};
    Places places;
  };
  std::map<std::string, Admission> placed() const {
    std::map<std::string, Admission> out;
    for (const auto& name : s_.names()) {
      const Workload& w = s_.workload(name);
      const Places places = on_nodes(w);
      if (places.empty()) continue;
      int evictions = 0;
      for (const auto& each : w.status.evictions) evictions += each.count;
      const Time reserved = api::find_condition(w.status.conditions, api::kueue::kQuotaReserved)->last_transition;
      out[w.meta.uid + "/" + std::to_string(evictions) + "/" + format_time(reserved)] = {reserved, places};
    }
    return out;
  }

  void check(const std::map<std::string, Admission>& before) {
    std::map<std::string, int> used;
    for (const auto& name : s_.names()) {
      const Workload& w = s_.workload(name);
      for (const auto& [node, pods] : on_nodes(w)) used[node] += ended_.contains(name) ? 0 : pods * cpu_of(w);
      const State state = lifecycle::state_of(w);
      if (state != State::kAdmitted && state != State::kFinished) {
        EXPECT_TRUE(w.status.unhealthy_nodes.empty()) << name << " is " << lifecycle::name(state);
      }
      if (state == State::kAdmitted) {
        EXPECT_FALSE(on_nodes(w).empty()) << name << " runs without places";
      }
    }
    for (const auto& [node, cpu] : used) EXPECT_LE(cpu, kCpuOfNode) << node;
    // A replacement that was decided may be written after the node is healthy again, so check only nodes that never
    // failed.
    for (const auto& [key, now] : placed()) {
      const auto then = before.find(key);
      if (then == before.end()) continue;
      for (const auto& [node, pods] : then->second.places) {
        if (healthy_since_.at(node) > then->second.reserved) continue;
        const auto still = now.places.find(node);
        EXPECT_TRUE(still != now.places.end() && still->second >= pods) << key << " left the healthy node " << node;
      }
    }
  }
  static int cpu_of(const Workload& w) {
    const auto& assigned = w.status.admission;
    if (!assigned || assigned->pod_set_assignments[0].count == 0) return 0;
    const auto& ps = assigned->pod_set_assignments[0];
    return static_cast<int>(ps.resource_usage.at("cpu").value() / ps.count);
  }

  bool chance(unsigned percent) { return random_() % 100 < percent; }
  std::size_t pick(std::size_t n) { return random_() % n; }
  std::string any() {
    const auto names = s_.names();
    return names.empty() ? "" : names[pick(names.size())];
  }
  std::string any_node() {
    return std::next(healthy_since_.begin(), static_cast<std::ptrdiff_t>(pick(healthy_since_.size())))->first;
  }

  std::mt19937 random_;
  Scenario s_;
  bool faults_ = true;
  int created_ = 0;
  std::map<std::string, Time> healthy_since_;  // by node; max(): not healthy
  std::set<std::string> pods_, ended_;
};

class RandomPlaces : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPlaces, NoNodeIsOverfullAndHealthyPlacesStay) {
  Life life(GetParam());
  for (int i = 0; i < kSteps && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(i);
    life.step();
  }
  if (!testing::Test::HasFailure()) life.settle();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlaces, testing::Range(0u, static_cast<unsigned>(kSeeds)));

}  // namespace
}  // namespace berth::engine::places_random_test
