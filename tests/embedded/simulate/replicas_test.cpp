// Two controllers, one of which leads. The leader is killed, suspended or cut off: no quota is given twice, and no
// workload is lost.
#include "embedded/simulate/replicas.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "base/yaml.h"

namespace berth::simulation::replicas_test {
namespace {

using simulate::FaultRates;
using std::chrono::seconds;

constexpr Duration kLease = std::chrono::seconds(15);  // the default of Kueue and of LeaderElectionOptions
constexpr int kReplicas = 2;

constexpr std::string_view kEstate = R"(
apiVersion: v1
kind: Namespace
metadata: {name: kueue-system}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: four}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: three}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 3}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: four, namespace: default}
spec: {clusterQueue: four}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: three, namespace: default}
spec: {clusterQueue: three}
)";

Amount cpu(std::string_view text) { return to_amount("cpu", Quantity::parse(text).value()); }

FaultRates bad_network() {
  FaultRates rates;
  rates.held_back = 100;
  rates.refused = 30;
  rates.unknown_outcome = 20;
  rates.slow = 100;
  rates.watch_ends = 10;
  rates.watch_expires = 5;
  rates.late = 50;
  rates.repeated = 30;
  return rates;
}

FaultRates bad_lease_network() {
  FaultRates rates;
  rates.refused = 30;
  rates.unknown_outcome = 20;
  rates.slow = 100;
  rates.late = 50;
  rates.max_delay = seconds(1);
  return rates;
}

class Replicas {
 public:
  Replicas(std::uint64_t seed, FaultRates rates, FaultRates lease_rates)
      : random_(seed), rates_(rates), lease_rates_(lease_rates) {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.nodes = "1x1x3";
    options.node_resources = "cpu=8,memory=32Gi";
    options.controller = false;
    options.seed = seed;
    world_ = simulate::World::make(options).value();
    auto estate = parse_yaml(kEstate).value();
    for (auto& object : estate) EXPECT_TRUE(world_->create(std::move(object)));
    audit_ =
        std::make_unique<QuotaAudit>(*world_, std::map<std::string, Amount>{{"four", cpu("4")}, {"three", cpu("3")}});
    for (auto& replica : replicas_) start(replica);
    run(seconds(5));
  }

  using Slot = std::unique_ptr<Replica>;

  void start(Slot& slot) {
    slot = std::make_unique<Replica>(*world_, random_.next() % 1'000'000, rates_, lease_rates_);
    Replica* replica = slot.get();
    replica->controller().on_round([this, replica] {
      if (rounds_++ % 16 != 0) return;
      for (const auto& sentence : replica->controller().engine().check_invariants()) ADD_FAILURE() << sentence;
    });
  }

  Slot* leader() {
    for (auto& slot : replicas_) {
      if (slot && slot->leads()) return &slot;
    }
    return nullptr;
  }

  // Returns whether one replica leads and all have synced. Replaces each replica that lost the lease in a bad network
  // by a new one, because a real process would have exited.
  bool all_are_there() {
    for (auto& slot : replicas_) {
      if (slot && slot->lost()) start(slot);
      if (!slot || !slot->controller().synced()) return false;
    }
    return leader() != nullptr;
  }

  // Kills the leader at a write and starts another process up to 20 s later. Returns how long there was no leader;
  // Duration::max() when a step took too long.
  Duration kill_the_leader() {
    if (!run_until([this] { return all_are_there(); }, std::chrono::minutes(5))) return Duration::max();
    Slot* slot = leader();
    bool died = false;
    (*slot)->die_at_write(1 + random_.below(40), random_.chance(500), [&died] { died = true; });
    if (!run_until([&died] { return died; }, std::chrono::minutes(10))) return Duration::max();
    slot->reset();
    const Time killed = now();
    world_->executor().after(Duration(static_cast<Duration::rep>(random_.below(20'000'000))),
                             [this, slot] { start(*slot); });
    if (!run_until([this] { return leader() != nullptr; }, std::chrono::minutes(2))) return Duration::max();
    return now() - killed;
  }

  bool run_until(const std::function<bool()>& condition, Duration within) {
    const Time end = now() + within;
    while (!condition()) {
      if (now() > end || !world_->executor().step()) return false;
    }
    return true;
  }
  void run(Duration d) { world_->run_for(d); }

  void submit_all_the_time() {
    submitting_ = true;
    submit();
    world_->executor().after(Duration(static_cast<Duration::rep>(random_.below(6'000'000))), [this] {
      if (submitting_) submit_all_the_time();
    });
  }

  void submit() {
    const std::string pods = std::to_string(1 + random_.below(3));
    const std::string name = "j" + std::to_string(++jobs_);
    Json job =
        parse_yaml(
            "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
            ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + (random_.chance(500) ? "four" : "three") +
            "}}, spec: {suspend: true, parallelism: " + pods + ", completions: " + pods +
            ", template: {metadata: {annotations: {berth.dev/run-for: " + std::to_string(3 + random_.below(15)) +
            "s}}, spec: {restartPolicy: Never, priorityClassName: \"" + (random_.chance(200) ? "urgent" : "") +
            "\", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}")
            .value()
            .front();
    auto request = world_->request_for("batch/v1", "Job", "default", "").value();
    request.verb = api::Verb::kCreate;
    request.body = std::move(job);
    world_->client().call(std::move(request),
                          [name](const api::RestResponse& response) { EXPECT_TRUE(response.ok()) << name; });
  }

  // Stops the submissions. Then all jobs must end.
  void expect_all_finish() {
    submitting_ = false;
    std::uint64_t finished = 0;
    for (int i = 0; i < 240 && finished < jobs_; ++i) {
      run(seconds(30));
      auto request = world_->request_for("batch/v1", "Job", "default", "").value();
      request.verb = api::Verb::kList;
      finished = 0;
      const auto response = world_->call(std::move(request));
      for (const auto& job : array_at(response.body, {"items"})) {
        for (const auto& condition : array_at(job, {"status", "conditions"}))
          finished += string_at(condition, {"type"}) == "Complete" && string_at(condition, {"status"}) == "True";
      }
    }
    EXPECT_EQ(finished, jobs_);
    EXPECT_GE(audit_->admissions(), jobs_);
    for (const auto& complaint : audit_->complaints()) ADD_FAILURE() << complaint;
  }

  Time now() const { return world_->executor().now(); }
  std::array<Slot, kReplicas>& all() { return replicas_; }
  simulate::Random& random() { return random_; }
  const QuotaAudit& audit() const { return *audit_; }

 private:
  simulate::Random random_;
  FaultRates rates_, lease_rates_;
  std::unique_ptr<simulate::World> world_;
  std::unique_ptr<QuotaAudit> audit_;
  std::array<Slot, kReplicas> replicas_;
  bool submitting_ = false;
  std::uint64_t jobs_ = 0, rounds_ = 0;
};

TEST(Replicas, TheLeaderIsKilledTwentyTimesAndFollowedWithinTheLease) {
  Replicas replicas(1, {}, {});
  replicas.submit_all_the_time();
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(replicas.kill_the_leader(), kLease) << i;
    replicas.run(seconds(static_cast<long>(replicas.random().below(30))));
  }
  replicas.expect_all_finish();
}

class ReplicasInABadNetwork : public testing::TestWithParam<int> {};

TEST_P(ReplicasInABadNetwork, TheLeaderIsKilledTwentyTimes) {
  Replicas replicas(static_cast<std::uint64_t>(GetParam()), bad_network(), bad_lease_network());
  replicas.submit_all_the_time();
  // The lease duration, plus time to see it a second late, for a failed attempt and the next one, and to read the
  // workloads again over the bad network.
  const Duration bound = kLease + seconds(15);
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(replicas.kill_the_leader(), bound) << i;
    replicas.run(seconds(static_cast<long>(replicas.random().below(30))));
  }
  replicas.expect_all_finish();
}

#ifdef BERTH_SANITIZED
constexpr int kSeeds = 1;
#else
constexpr int kSeeds = 3;
#endif
INSTANTIATE_TEST_SUITE_P(Seeds, ReplicasInABadNetwork, testing::Range(1, kSeeds + 1));

// A process that was suspended continues and still believes that it leads. Its clock says that its time to write is
// over.
TEST(Replicas, ALeaderThatStoodStillWritesNothingAnyMore) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    FaultRates line;
    line.held_back = 500;  // so that requests are in its queue when it is suspended
    Replicas replicas(seed, line, {});
    replicas.submit_all_the_time();
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(replicas.run_until([&] { return replicas.leader() != nullptr; }, seconds(60)));
      replicas.run(Duration(static_cast<Duration::rep>(replicas.random().below(5'000'000))));
      Replicas::Slot* old = replicas.leader();
      ASSERT_NE(old, nullptr);
      (*old)->stand_still();
      const std::uint64_t before = (*old)->writes();
      replicas.run(seconds(20));
      (*old)->go_on();
      replicas.run(seconds(20));
      EXPECT_TRUE((*old)->lost());
      EXPECT_EQ((*old)->writes(), before);
      replicas.start(*old);
      replicas.run(seconds(5));
    }
    replicas.expect_all_finish();
  }
}

TEST(Replicas, ALeaderThatIsCutOffStopsBeforeAnotherBegins) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    FaultRates line;
    line.held_back = 300;
    Replicas replicas(seed, line, {});
    replicas.submit_all_the_time();
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(replicas.run_until([&] { return replicas.leader() != nullptr; }, seconds(60)));
      replicas.run(seconds(5));
      Replicas::Slot* old = replicas.leader();
      ASSERT_NE(old, nullptr);
      (*old)->cut_off(true);
      ASSERT_TRUE(replicas.run_until([&] { return (*old)->lost(); }, seconds(11)));
      Replicas::Slot* other = replicas.leader();
      EXPECT_EQ(other, nullptr) << "the lease of the first is still good";
      (*old)->cut_off(false);
      ASSERT_TRUE(replicas.run_until([&] { return replicas.leader() != nullptr; }, seconds(10)));
      replicas.start(*old);
      replicas.run(seconds(5));
    }
    replicas.expect_all_finish();
  }
}

}  // namespace
}  // namespace berth::simulation::replicas_test
