// Random lives of small clusters: every event that the engine knows, writes that fail, conflict or arrive late, and
// restarts. After every pass the engine's invariants are checked, and one that only the API objects can show: quota
// is never given twice.
#include <gtest/gtest.h>

#include <random>

#include "engine/lifecycle/state.h"
#include "engine/support/scenario.h"
#include "support/sanitized.h"

namespace berth::engine::engine_simulation_test {
namespace {

using api::kueue::CheckState;
using api::kueue::StopPolicy;
using api::kueue::Workload;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

constexpr int kSeeds = 150 / testing_support::kFewer;
constexpr int kSteps = 80;
constexpr int kQuota = 6;   // cpu of each cluster queue
constexpr int kQueues = 3;  // a and b share a cohort, c is alone and has a check
constexpr int kMaxWorkloads = 12;

class Simulation {
 public:
  explicit Simulation(unsigned seed) : s_(options(seed)), by_usage_(seed % 3 == 1), random_(seed) {
    s_.give(test::flavor("f"));
    s_.give(test::check("ck"));
    for (int q = 0; q < kQueues; ++q) set_queue(q, StopPolicy::kNone);
    s_.outcome_of_write = [this](const std::string&) {
      if (!faults_ || !chance(15)) return Scenario::Outcome::kDone;
      return chance(50) ? Scenario::Outcome::kConflict : Scenario::Outcome::kFailed;
    };
    s_.answers_that_arrive = [this](std::size_t n) { return faults_ && chance(40) ? pick(n + 1) : n; };
    s_.failed_writes_happen = chance(50);
  }

  void step() {
    switch (pick(15)) {
      case 0:
      case 1:
      case 2:
        create();
        break;
      case 3:
        finish();
        break;
      case 4:
        remove();
        break;
      case 5:
        activate();
        break;
      case 6:
        set_queue(static_cast<int>(pick(kQueues)), policy());
        break;
      case 7:
        redirect(pick(kQueues));
        break;
      case 8:
        check_says();
        break;
      case 9:
        reclaim();
        break;
      case 10:
        s_.restart();
        break;
      case 11:
        s_.jobs_stop_at_once = chance(70);
        break;
      case 12:
        touch();
        break;
      case 13:
        s_.copy();
        break;
      default:
        s_.renumber();
        break;
    }
    if (chance(60)) {
      s_.run_once();
    } else {
      s_.pass(static_cast<int>(pick(90)));
    }
    check();
  }

  // Without further faults everything settles, and every workload that can be admitted is admitted.
  void settle() {
    faults_ = false;
    s_.jobs_stop_at_once = true;
    for (int q = 0; q < kQueues; ++q) {
      set_queue(q, StopPolicy::kNone);
      s_.give(test::local_queue("q" + std::to_string(q), cluster_queue(static_cast<std::size_t>(q))));
    }
    for (const auto& name : s_.names()) s_.change(name, [](Workload& w) { w.meta.labels["touched"] = "yes"; });
    for (int minute = 0; minute < 60; ++minute) {
      for (const auto& name : s_.names()) {
        if (s_.state(name) == "Admitted") report_pods(name, true);
      }
      s_.pass(60);
    }
    check();
    for (const auto& name : s_.names()) {
      EXPECT_NE(s_.state(name), "Evicting") << name;
      EXPECT_NE(s_.state(name), "Held") << name << ": " << s_.condition(name, "QuotaReserved");
    }
  }

 private:
  // Half of the seeds use waitForPodsReady, some of these with blockAdmission; some seeds use retention, some the order
  // by usage.
  static Options options(unsigned seed) {
    Options o;
    if (seed % 2 == 0) {
      o.wait_for_pods_ready.timeout = std::chrono::seconds(100);
      o.wait_for_pods_ready.recovery_timeout = std::chrono::seconds(50);
      o.wait_for_pods_ready.backoff_base_seconds = 10;
      o.wait_for_pods_ready.backoff_max_seconds = 60;
      o.wait_for_pods_ready.block_admission = seed % 4 == 0;
    }
    o.fair_sharing = {seed % 5 == 0, seed % 15 != 0, true};
    if (seed % 3 == 1) o.admission_fair_sharing = {true, std::chrono::minutes(5), std::chrono::minutes(1), {}};
    if (seed % 3 == 0) o.retention = {std::chrono::seconds(80), std::chrono::seconds(80)};
    return o;
  }
  void report_pods(const std::string& workload, bool ready) {
    api::kueue::JobReport report;
    report.pods_ready = ready;
    s_.report(workload, report);
  }
  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::size_t pick(std::size_t n) { return random_() % n; }
  StopPolicy policy() {
    return std::array{StopPolicy::kNone, StopPolicy::kNone, StopPolicy::kHold, StopPolicy::kHoldAndDrain}[pick(4)];
  }
  static std::string cluster_queue(std::size_t q) { return "cq" + std::to_string(q); }

  void set_queue(int q, StopPolicy stop) {
    ClusterQueueBuilder queue(cluster_queue(static_cast<std::size_t>(q)));
    queue.cpu({{"f", std::to_string(kQuota)}}).preempt_lower().reclaim_any().stop(stop);
    if (q < 2) queue.cohort("both");
    queue.by_usage(by_usage_);
    if (by_usage_ && q == 1) queue.strict();
    if (q == 2) queue.check("ck");
    s_.give(queue);
  }
  std::optional<std::string> some_workload() {
    const auto names = s_.names();
    return names.empty() ? std::nullopt : std::optional(names[pick(names.size())]);
  }
  void redirect(std::size_t queue) {
    const std::size_t target = queue == 2 ? 2 : pick(2);
    s_.give(test::local_queue("q" + std::to_string(queue), cluster_queue(target), policy()));
  }
  void create() {
    if (s_.names().size() >= kMaxWorkloads) return;
    const auto queue = pick(kQueues);
    WorkloadBuilder w("w" + std::to_string(created_++), "q" + std::to_string(queue));
    const int count = 1 + static_cast<int>(pick(4));
    // Two workloads that borrow and can both be reduced may reclaim from each other forever, by Kueue's rules too. So
    // reducible workloads go to the queue without a cohort.
    const bool reducible = queue == 2 && chance(30);
    w.pods(count, "1", reducible ? std::optional(1) : std::nullopt)
        .priority(static_cast<int>(pick(3)))
        .created(s_.now());
    if (chance(20)) w.max_seconds(60);
    s_.give(w);
  }
  void finish() {
    if (const auto w = some_workload()) {
      s_.finish(*w);
      ended_.insert(*w);
    }
  }
  void remove() {
    if (const auto w = some_workload()) s_.remove(*w);
  }
  void activate() {
    if (const auto w = some_workload()) s_.change(*w, [](Workload& x) { x.active = !x.active; }, true);
  }
  void touch() {
    if (const auto w = some_workload())
      s_.change(*w, [&](Workload& x) { x.meta.labels["n"] = std::to_string(pick(9)); });
  }
  void check_says() {
    const auto w = some_workload();
    if (!w || s_.workload(*w).status.admission_checks.empty()) return;
    s_.change(*w, [&](Workload& x) {
      auto& c = x.status.admission_checks[0];
      c.state = std::array{CheckState::kReady, CheckState::kReady, CheckState::kRetry, CheckState::kRejected}[pick(4)];
      c.last_transition = s_.now();
      if (c.state == CheckState::kRetry) c.requeue_after_seconds = static_cast<int>(pick(20));
    });
  }
  void reclaim() {
    const auto w = some_workload();
    if (!w) return;
    api::kueue::JobReport report;
    report.pods_ready = chance(50);
    report.reclaimable = {{"main", 1}};
    s_.report(*w, report);
    reclaimed_.insert(*w);
  }

  // Quota according to the API: the two queues of the cohort together, and the single queue. Reclaimable pods count
  // as soon as the job has reported them, even before they are written: these pods are gone.
  void check() {
    std::int64_t both = 0, alone = 0;
    for (const auto& name : s_.names()) {
      const Workload& w = s_.workload(name);
      if (!lifecycle::holds_quota(w.status) || ended_.contains(name)) continue;
      std::int64_t pods = w.status.admission->pod_set_assignments[0].count;
      if (reclaimed_.contains(name)) --pods;
      (w.status.admission->cluster_queue == "cq2" ? alone : both) += pods;
    }
    EXPECT_LE(both, 2 * kQuota);
    EXPECT_LE(alone, kQuota);
  }

  Scenario s_;
  bool by_usage_;
  std::mt19937 random_;
  bool faults_ = true;
  std::set<std::string> ended_, reclaimed_;
  int created_ = 0;
};

TEST(Simulation, KeepsItsPromisesUnderFaults) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation(seed);
    for (int i = 0; i < kSteps; ++i) {
      simulation.step();
      if (testing::Test::HasFailure()) FAIL() << "step " << i;
    }
    simulation.settle();
    if (testing::Test::HasFailure()) FAIL() << "after the last step";
  }
}

}  // namespace
}  // namespace berth::engine::engine_simulation_test
