// The Job controller on a faulty connection, with restarts at random moments: each pod is counted exactly once.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "embedded/cluster/job_controller.h"
#include "embedded/cluster/world.h"
#include "embedded/simulate/lab_names.h"
#include "support/sanitized.h"

namespace berth::job_controller_faults_test {
namespace {

using namespace cluster::testing_support;

constexpr int kSeeds = 30 / testing_support::kFewer;

simulate::FaultRates rates(bool lose_answers) {
  simulate::FaultRates out;
  out.refused = 60;
  out.unknown_outcome = lose_answers ? 40 : 0;
  out.conflict = 40;
  out.slow = 100;
  out.watch_ends = 20;
  out.watch_expires = 10;
  out.late = 60;
  out.repeated = 30;
  return out;
}

class Play {
 public:
  Play(std::uint64_t seed, bool lose_answers)
      : random_(seed), faulty_(*world_.server, world_.executor, seed, rates(lose_answers)) {
    restart();
  }

  void create(std::string_view spec) {
    Json job = yaml(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {restartPolicy: "
        "Never, "
        "containers: [{name: c, image: i}]}}}}");
    const Json given = yaml(spec);
    for (const auto& [key, value] : given.as_object()) {
      ensure_path(job, {"spec", std::string_view(key.data(), key.size())}) = value;
    }
    world_.create(kJobs, std::move(job));
  }

  // Lets pods end some seconds after their creation; `failing_per_mille` of 1000 fail.
  void live(int seconds, int failing_per_mille) {
    for (int i = 0; i < seconds && !over(); ++i) {
      world_.run_for(std::chrono::seconds(1));
      for (const auto& pod : world_.list(kPods)) {
        if (string_at(pod, {"status", "phase"}) != "Pending" || !random_.chance(200)) continue;
        if (array_at(pod, {"metadata", "finalizers"}).empty()) continue;
        end(pod, !random_.chance(failing_per_mille));
      }
      if (random_.chance(15)) restart();
    }
  }

  void calm(int seconds) {
    faulty_.set_rates({});
    world_.run_for(std::chrono::seconds(seconds));
  }

  Json job() { return world_.get(kJobs, "j"); }
  bool over() {
    const Json now = job();
    for (const auto& c : array_at(now, {"status", "conditions"})) {
      if (string_at(c, {"type"}) == "Complete" || string_at(c, {"type"}) == "Failed") return true;
    }
    return false;
  }

  std::set<std::string> failed_pods;
  World world_;

 private:
  void restart() {
    controller_.reset();
    controller_ = std::make_unique<cluster::JobController>(faulty_, world_.executor);
    controller_->start();
  }

  void end(const Json& pod, bool well) {
    const std::string name(string_at(pod, {"metadata", "name"}));
    if (!well) failed_pods.insert(name);
    world_.patch(kPods, name, well ? "{status: {phase: Succeeded}}" : "{status: {phase: Failed}}", "status");
  }

  simulate::Random random_;
  simulate::FaultyClient faulty_;
  std::unique_ptr<cluster::JobController> controller_;
};

void expect_settled(Play& run) {
  EXPECT_TRUE(run.over()) << to_string(run.job());
  EXPECT_EQ(to_string(*find_path(run.job(), {"status", "uncountedTerminatedPods"})), "{}");
  for (const auto& pod : run.world_.list(kPods)) {
    EXPECT_TRUE(array_at(pod, {"metadata", "finalizers"}).empty()) << to_string(pod);
    EXPECT_NE(string_at(pod, {"status", "phase"}), "Pending") << "a finished job has no pods that may still run";
  }
}

TEST(JobControllerUnderFaults, CountsEveryPodOnce) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play run(seed, false);
    run.create("{parallelism: 4, completions: 12, backoffLimit: 1000}");
    run.live(20'000, 300);
    run.calm(120);
    expect_settled(run);
    EXPECT_EQ(int_at(run.job(), {"status", "succeeded"}), 12);
    EXPECT_EQ(int_at(run.job(), {"status", "failed"}), static_cast<std::int64_t>(run.failed_pods.size()));
  }
}

TEST(JobControllerUnderFaults, CompletesEveryIndexThoughAnswersAreLost) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play run(seed, true);
    run.create("{parallelism: 5, completions: 15, completionMode: Indexed, backoffLimit: 1000}");
    run.live(20'000, 300);
    run.calm(120);
    expect_settled(run);
    EXPECT_EQ(string_at(run.job(), {"status", "completedIndexes"}), "0-14");
    EXPECT_EQ(int_at(run.job(), {"status", "succeeded"}), 15);
    EXPECT_LE(int_at(run.job(), {"status", "failed"}), static_cast<std::int64_t>(run.failed_pods.size()));
  }
}

TEST(JobControllerUnderFaults, LeavesNoPodBehindWhenItsJobIsDeleted) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play run(seed, true);
    run.create("{parallelism: 6, completions: 100, backoffLimit: 1000}");
    run.live(30, 300);
    EXPECT_TRUE(run.world_.remove(kJobs, "j", yaml("{propagationPolicy: Background}")).ok());
    run.live(30, 0);
    run.calm(120);
    EXPECT_TRUE(run.world_.list(kPods).empty()) << to_string(run.world_.list(kPods).front());
  }
}

}  // namespace
}  // namespace berth::job_controller_faults_test
