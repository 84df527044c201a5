// Workloads that spare each other go on to do so after a restart: an engine that starts on objects at rest decides what
// the former one decided.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "engine/schedule/protected_words.h"
#include "engine/support/scenario.h"
#include "support/sanitized.h"

namespace berth::engine::restarted_precedence_test {
namespace {

using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;

// Four queues share the quota of their cohort, with sizes that never divide evenly: the initial share lets workloads
// preempt each other, which they do once.
struct Company : Scenario {
  explicit Company(unsigned seed) : Scenario(options(seed)), random_(seed) {
    give(test::flavor("f"));
    cohort("company", "", std::to_string(pick(6, 12)));
    cohort("research", "company", std::to_string(pick(0, 2)));
    for (int q = 0; q < 4; ++q) {
      auto object = ClusterQueueBuilder("cq" + std::to_string(q))
                        .cpu({{"f", std::to_string(pick(0, 3))}})
                        .cohort(q % 2 == 0 ? "company" : "research")
                        .reclaim_any()
                        .preempt_lower()
                        .build();
      object.fair_weight = Quantity::of_milli(pick(0, 3) * 500);
      give(object);
      give(test::local_queue("q" + std::to_string(q), object.meta.name));
    }
    for (int i = 0; i < 14; ++i) create(i);
    for (int i = 0; i < 60; ++i) pass(60);
  }
  void create(int i) {
    give(WorkloadBuilder("w" + std::to_string(i), "q" + std::to_string(pick(0, 3)))
             .pods(pick(1, 5), "1")
             .priority(pick(0, 2))
             .created(now()));
    if (pick(0, 1)) pass(pick(1, 20));
  }
  // How many say that they spare others.
  int sparing() const {
    int out = 0;
    for (const auto& name : names()) out += protected_uids(condition(name, api::kueue::kQuotaReserved)).empty() ? 0 : 1;
    return out;
  }
  std::string picture() const {
    std::string out;
    for (const auto& name : names()) out += name + ": " + state(name) + '\n';
    return out;
  }

 private:
  static Options options(unsigned seed) {
    Options options;
    options.fair_sharing.enabled = true;
    options.fair_sharing.final_share = seed % 3 != 0;
    options.fair_sharing.initial_share = seed % 3 != 1;
    options.fair_preempt_within_nominal = seed % 2 == 0;
    options.wait_for_pods_ready.enabled = false;
    return options;
  }
  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  void cohort(const std::string& name, const std::string& parent, const std::string& cpu) {
    api::kueue::Cohort out;
    out.meta.name = name;
    out.parent_name = parent;
    out.resource_groups = ClusterQueueBuilder("any").cpu({{"f", cpu}}).build().resource_groups;
    give(out);
  }

  std::mt19937 random_;
};

void changes_nothing(const std::function<void(Company&)>& begin_anew) {
  int sparing = 0;
  for (unsigned seed = 0; seed < 60 / testing_support::kFewer; ++seed) {
    SCOPED_TRACE(seed);
    Company s(seed);
    sparing += s.sparing();
    const std::string before = s.picture();
    s.take_events();
    begin_anew(s);
    for (int i = 0; i < 10; ++i) s.pass(60);
    EXPECT_EQ(s.picture(), before);
    for (const std::string& event : s.take_events()) EXPECT_EQ(event.find(" Preempted: "), std::string::npos) << event;
    if (testing::Test::HasFailure()) return;
  }
  if (testing_support::kFewer > 1) return;
  EXPECT_GT(sparing, 0);
}

TEST(RestartedPrecedence, ARestartChangesNothing) { changes_nothing(&Company::restart); }
TEST(RestartedPrecedence, AnEngineFromInputsChangesNothing) { changes_nothing(&Company::make_anew); }
TEST(RestartedPrecedence, ARenumberedEngineChangesNothing) { changes_nothing(&Company::renumber); }

// Admission fair sharing: `b1` preempts `a1` of the same StrictFIFO queue, but the tenant of `a1` used less and comes
// back first. So `b1` waits, before and after a restart, until something else changes.
struct TwoTenants : Scenario {
  TwoTenants() : Scenario(options()) {
    give(test::flavor("f"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).by_usage(true).strict().preempt_lower());
    for (const std::string name : {"a", "b"}) {
      auto queue = test::local_queue(name, "cq");
      queue.meta.creation = now();
      give(queue);
    }
    job("b0", "4", 0);
    pass(3'600);
    finish("b0");
    job("a1", "3", 0);
    job("a2", "1", 1);
    pass(10);
    job("b1", "3", 1);
    pass(600);
  }
  static Options options() {
    Options out;
    out.wait_for_pods_ready.enabled = false;
    out.admission_fair_sharing = {true, std::chrono::hours(168), std::chrono::minutes(5), {}};
    return out;
  }
  void job(const std::string& name, std::string_view cpu, int priority) {
    give(WorkloadBuilder(name, name.substr(0, 1)).pods(1, cpu).priority(priority).created(now()));
    run();
  }
  int preemptions() {
    int out = 0;
    for (const std::string& event : take_events()) out += event.find(" Preempted: ") == std::string::npos ? 0 : 1;
    return out;
  }
};

TEST(RestartedPrecedence, OneThatWasPreemptedAndCameBackFirstKeepsItsQuota) {
  TwoTenants s;
  EXPECT_EQ(s.preemptions(), 1);
  EXPECT_EQ(s.state("a1"), "Admitted");
  EXPECT_EQ(protected_uids(s.condition("b1", api::kueue::kQuotaReserved)), std::vector<std::string>{"uid-a1"});
  for (int i = 0; i < 3; ++i) {
    s.restart();
    s.pass(600);
    EXPECT_EQ(s.preemptions(), 0) << "after restart " << i;
    EXPECT_EQ(s.state("a1"), "Admitted");
  }
}

TEST(RestartedPrecedence, WhatIsRecalledIsForgottenWithTheNextChange) {
  TwoTenants s;
  s.restart();
  s.run();
  EXPECT_EQ(s.preemptions(), 1);
  s.finish("a2");
  s.run();
  EXPECT_EQ(s.preemptions(), 1) << "b1 may try again";
}

}  // namespace
}  // namespace berth::engine::restarted_precedence_test
