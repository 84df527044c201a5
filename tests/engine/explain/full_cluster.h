// Explanations of a scenario, and random small clusters that are full: queues in cohorts, quotas with limits, fair
// sharing, nodes in racks, more workloads than fit.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/explanation.h"
#include "engine/support/scenario.h"

namespace berth::engine::test {

inline Explanation explain(const Scenario& s, const std::string& name) {
  const auto out = s.engine().explain(s.now(), "ns", name);
  EXPECT_TRUE(out.has_value()) << name;
  return out.value_or(Explanation());
}

class FullCluster {
 public:
  // `limited`: each workload has a maximum execution time.
  explicit FullCluster(unsigned seed, bool limited = false)
      : random_(seed), placed_(seed % 4 == 3), limited_(limited), scenario(options(seed)) {
    if (placed_) add_nodes();
    for (int f = 0; f < flavors_; ++f) {
      const std::string name = "f" + std::to_string(f);
      scenario.give(placed_ ? placed_flavor(name, "t") : flavor(name));
    }
    if (chance(50)) give_cohort();
    for (int q = 0; q < queues_; ++q) give_queue(q);
    const int workloads = 4 + pick(14);
    for (int w = 0; w < workloads; ++w) give_workload(w);
    scenario.run();
  }

  // Names of workloads that wait in a queue.
  std::vector<std::string> waiting() const {
    std::vector<std::string> out;
    for (const auto& name : scenario.names()) {
      if (scenario.state(name) == "Pending") out.push_back(name);
    }
    return out;
  }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  api::kueue::ClusterQueue queue(const std::string& name) const { return given_.at(name); }

 private:
  std::mt19937 random_;
  bool placed_, limited_;
  int flavors_ = placed_ ? 1 : 1 + pick(2), queues_ = 1 + pick(3);
  std::map<std::string, api::kueue::ClusterQueue> given_;

 public:
  Scenario scenario;

 private:
  static Options options(unsigned seed) {
    Options o;
    o.fair_sharing.enabled = seed % 3 == 0;
    o.prioritize_preemptors = seed % 5 == 0;
    return o;
  }
  void add_nodes() {
    scenario.give(topology("t"));
    for (int rack = 0; rack < 2; ++rack) {
      for (int node = 0; node < 3; ++node) {
        NodeBuilder builder("r" + std::to_string(rack) + "n" + std::to_string(node), "r" + std::to_string(rack));
        if (chance(20)) builder.not_ready(kEpoch);
        scenario.give(builder);
      }
    }
  }
  void give_cohort() {
    api::kueue::Cohort cohort;
    cohort.meta.name = "both";
    cohort.meta.resource_version = "1";
    cohort.parent_name = chance(50) ? "root" : "";
    scenario.give(cohort);
  }
  void give_queue(int q) {
    using api::kueue::ReclaimWithinCohort;
    const std::string name = "cq" + std::to_string(q);
    ClusterQueueBuilder builder(name);
    std::vector<FlavorSpec> quotas;
    const bool cohort = chance(70);
    for (int f = 0; f < flavors_; ++f) {
      FlavorSpec spec{"f" + std::to_string(f), std::to_string(pick(8)), {}, {}};
      if (cohort && chance(40)) spec.borrowing_limit = std::to_string(pick(5));
      if (cohort && chance(30)) spec.lending_limit = std::to_string(pick(5));
      quotas.push_back(spec);
    }
    builder.cpu(quotas);
    if (cohort) builder.cohort(chance(80) ? "both" : "root");
    if (chance(30)) builder.strict();
    if (chance(40)) builder.preempt_lower();
    if (chance(40)) builder.reclaim_any();
    given_.emplace(name, builder);
    scenario.give(builder);
    scenario.give(local_queue("q" + std::to_string(q), name));
  }
  void give_workload(int w) {
    WorkloadBuilder builder("w" + std::to_string(w), "q" + std::to_string(pick(queues_)));
    const int count = 1 + pick(5);
    builder.pods(count, chance(70) ? "1" : "1500m", chance(20) ? std::optional(1 + pick(count)) : std::nullopt)
        .priority(pick(3))
        .created(at(w));
    if (placed_ && chance(60)) builder.required(chance(50) ? "rack" : "kubernetes.io/hostname");
    if (limited_) builder.max_seconds(20 + pick(200));
    scenario.give(builder);
  }
};

}  // namespace berth::engine::test
