// Workers that come and go at random, controllers that start anew, queues that stop: at rest every job has ended once,
// and nothing is left on the workers.
#include <random>

#include "controller/multikueue_fixture.h"

namespace berth::controller::multikueue_random_test {
namespace {

using multikueue_fixture::Wire;
using std::chrono::minutes;
using std::chrono::seconds;

class RandomMultiKueue : public multikueue_fixture::MultiKueue, public testing::WithParamInterface<unsigned> {
 protected:
  std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  std::string some_worker() { return pick(2) == 0 ? "east" : "west"; }

  void heal() {
    for (const auto& [name, wire] : wires) wire->heal();
  }

  void act() {
    const std::string worker = some_worker();
    switch (pick(7)) {
      case 0:
        wires[worker]->cut();
        break;
      case 1:
        wires[worker]->cut(Wire::State::kSilent);
        break;
      case 2:
        heal();
        break;
      case 3:
        hold(worker, true);
        break;
      case 4:
        hold(worker, false);
        break;
      case 5:
        restart_manager();
        break;
      default:
        if (jobs_ < 8) job("j" + std::to_string(jobs_++), 1 + static_cast<int>(pick(2)), "1", "3m");
    }
  }

  // All workers could be reached for long enough: no job runs on both.
  void expect_no_double_run() {
    for (int i = 0; i < jobs_; ++i) {
      const std::string name = "j" + std::to_string(i);
      int runs = 0;
      for (const char* worker : {"east", "west"}) {
        const Json there = job_on(worker, name);
        runs += !there.is_null() && !bool_at(there, {"spec", "suspend"}) ? 1 : 0;
      }
      EXPECT_LE(runs, 1) << name;
    }
  }

  std::mt19937 random_{GetParam()};
  int jobs_ = 0;
};

TEST_P(RandomMultiKueue, EveryJobEndsOnceAndNothingIsLeft) {
  for (int step = 0; step < 40; ++step) {
    act();
    pass(seconds(1 + pick(60)));
    if (step % 10 != 9) continue;
    heal();
    pass(minutes(7));  // longer than the longest wait between two attempts to connect
    expect_no_double_run();
  }
  heal();
  for (const char* worker : {"east", "west"}) hold(worker, false);
  pass(minutes(40));
  for (int i = 0; i < jobs_; ++i) {
    const std::string name = "j" + std::to_string(i);
    EXPECT_EQ(condition(workload(name), "Finished").substr(0, 14), "True Succeeded") << name << " " << check_of(name);
    EXPECT_EQ(condition(job_on("", name), "Complete").substr(0, 4), "True") << name;
  }
  for (const char* worker : {"east", "west"}) {
    EXPECT_TRUE(list(worker, api::kWorkloads).empty()) << worker;
    EXPECT_TRUE(list(worker, api::kJobs).empty()) << worker;
    EXPECT_EQ(running_on(worker), 0u) << worker;
  }
  EXPECT_EQ(manager.controller->engine().held_quotas().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMultiKueue, testing::Range(1u, 25u));

}  // namespace
}  // namespace berth::controller::multikueue_random_test
