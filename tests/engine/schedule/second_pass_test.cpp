// The second pass: delayed places, and new places for the pods of failed nodes.
#include <gtest/gtest.h>

#include "hall.h"

namespace berth::engine::second_pass_test {
namespace {

using Texts = std::vector<std::string>;
using api::kueue::Admission;
using api::kueue::DelayedTopology;
using api::kueue::WithinClusterQueue;
using Result = Scheduler::SecondPassResult;

QueueSpec queue_of(const std::string& name) {
  return QueueSpec(name).flavor("f", {{"cpu", "8"}}).within(WithinClusterQueue::kLowerPriority);
}

// An environment in which admissions are written to the API, as the engine does it.
struct Written : Hall {
  using Hall::Hall;
  std::map<std::string, Admission> admissions;

  Texts settle() {
    Texts texts = moves();
    for (const Decision& each : last) {
      const auto* admit = std::get_if<Admit>(&each);
      if (admit == nullptr) continue;
      const std::string& name = names.at(admit->workload);
      admissions[name] = scheduler.admission(*admit);
      write(name);
    }
    return texts;
  }
  void write(const std::string& name) {
    const Admission& admission = admissions.at(name);
    Holding holding;
    holding.cluster_queue = admission.cluster_queue;
    holding.priority = specs.at(name).priority;
    holding.queued_at = holding.reserved_at = specs.at(name).queued_at;
    holding.amounts = holding_amounts(admission, {});
    for (std::size_t i = 0; i < admission.pod_set_assignments.size(); ++i) {
      const auto& assigned = admission.pod_set_assignments[i];
      if (assigned.topology_assignment == nullptr) continue;
      holding.places.push_back({"f", specs.at(name).pod_sets[i].per_pod, assigned.topology_assignment});
    }
    scheduler.hold(id(name), holding);
  }
  Result second_pass(const std::string& name, std::vector<std::string> failed = {}) {
    return scheduler.second_pass({id(name), specs.at(name).pod_sets, &admissions.at(name), std::move(failed)},
                                 at_second(99));
  }
  // The same, and writes the result.
  std::string place(const std::string& name, const std::vector<std::string>& failed = {}) {
    const Result result = second_pass(name, failed);
    if (!result.ok()) return result.message;
    auto& assigned = admissions.at(name).pod_set_assignments;
    for (std::size_t i = 0; i < assigned.size(); ++i) {
      if (result.assignments[i] == nullptr) continue;
      assigned[i].topology_assignment = result.assignments[i];
      assigned[i].delayed_topology = DelayedTopology::kReady;
    }
    write(name);
    return text(*assigned[0].topology_assignment);
  }
};

TEST(SecondPass, DelayedPlacesFollowWhenThereAreNodes) {
  Written hall(1, 1, "2");
  hall.queue(queue_of("q"), {"f"});
  hall.job({.name = "gang", .queue = "q", .count = 4, .topology = required("rack")});
  EXPECT_EQ(hall.settle(), Texts{"admit gang"});  // quota only
  const auto& assigned = hall.admissions.at("gang").pod_set_assignments[0];
  EXPECT_EQ(assigned.topology_assignment, nullptr);
  EXPECT_EQ(assigned.delayed_topology, DelayedTopology::kPending);
  EXPECT_EQ(hall.second_pass("gang").message,
            "couldn't assign flavors to pod set main: topology \"t\" allows to fit only 2 out of 4 pod(s)");
  const Amount used =
      hall.scheduler.ledger().usage(hall.scheduler.ledger().find_cluster_queue("q"), FlavorResourceId(0));
  hall.node(2, 1, "2");
  hall.node(2, 2, "2");
  EXPECT_EQ(hall.place("gang"), "r2-n1:2 r2-n2:2");
  EXPECT_EQ(hall.scheduler.ledger().usage(hall.scheduler.ledger().find_cluster_queue("q"), FlavorResourceId(0)), used);
  EXPECT_EQ(hall.scheduler.check(), Texts{});
  // The places that it got are in use.
  hall.job({.name = "next", .queue = "q", .count = 3, .topology = required("rack")});
  EXPECT_EQ(hall.settle(), Texts{"admit next"});
  EXPECT_EQ(hall.second_pass("next").ok(), false);
  hall.finish("gang");
  EXPECT_EQ(hall.place("next"), "r2-n1:2 r2-n2:1");
}

TEST(SecondPass, MismatchesCountInTheFirstPass) {
  Written hall(1, 1, "2");
  hall.queue(queue_of("q"), {"f"});
  hall.job({.name = "a", .queue = "q", .topology = required("zone")});
  EXPECT_EQ(hall.schedule(),
            Texts{"wait a NoMatchingFlavor: couldn't assign flavors to pod set main: Flavor \"f\" does "
                  "not contain the requested level"});
}

TEST(SecondPass, AReducedGangIsInSlicesToo) {
  for (const bool partial : {true, false}) {
    SchedulerOptions options;
    options.topology.partial_slices = partial;
    Written hall(1, 2, "4", options);
    hall.queue(QueueSpec("q").flavor("f", {{"cpu", "3"}}), {"f"});
    api::kueue::TopologyRequest pairs;
    pairs.slice_required_topology = kHost;
    pairs.slice_size = 2;
    hall.job({.name = "gang", .queue = "q", .count = 4, .min_count = 1, .topology = pairs});
    EXPECT_EQ(hall.settle(), Texts{"admit gang"});
    EXPECT_EQ(hall.admissions.at("gang").pod_set_assignments[0].count, partial ? 3 : 2)
        << "three pods are a pair and a smaller slice";
    EXPECT_EQ(hall.place("gang"), partial ? "r1-n1:3" : "r1-n1:2");
  }
}

TEST(SecondPass, DelayedPlacesMayPreempt) {
  Written hall(1, 1, "4");
  hall.queue(queue_of("q"));
  hall.job({.name = "low", .queue = "q", .count = 3});
  EXPECT_EQ(hall.settle(), Texts{"admit low"});
  hall.queue(queue_of("q"), {"f"});
  hall.job({.name = "gang", .queue = "q", .count = 4, .priority = 1, .topology = required("rack")});
  EXPECT_EQ(hall.settle(), Texts{"admit gang"});
  const Result result = hall.second_pass("gang");
  EXPECT_FALSE(result.ok());
  ASSERT_EQ(result.preemptions.size(), 1u);
  EXPECT_EQ(hall.World::text(result.preemptions[0]), "preempt low for gang (InClusterQueue)");
  EXPECT_TRUE(result.message.starts_with("couldn't assign flavors to pod set main: topology \"t\" ")) << result.message;
  EXPECT_TRUE(result.message.ends_with(". Pending the preemption of 1 workload(s)")) << result.message;
  EXPECT_TRUE(hall.second_pass("gang").preemptions.empty());  // the eviction is already under way
  hall.finish("low");
  EXPECT_EQ(hall.place("gang"), "r1-n1:4");
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(SecondPass, OnlyTheFailedNodesShareIsReplaced) {
  Written hall(2, 3, "2");
  hall.queue(queue_of("q"));
  hall.job({.name = "a", .queue = "q", .count = 4, .topology = required("rack")});
  EXPECT_EQ(hall.settle(), Texts{"admit a"});
  EXPECT_EQ(hall.placed("a"), "r1-n1:2 r1-n2:2");
  hall.node(1, 2, "2", false);
  EXPECT_EQ(hall.place("a", {"r1-n2"}), "r1-n1:2 r1-n3:2");
  EXPECT_EQ(hall.scheduler.check(), Texts{});
}

TEST(SecondPass, ReplacementNeverPreempts) {
  Written hall(1, 3, "2");
  hall.queue(queue_of("q"));
  hall.job({.name = "a", .queue = "q", .count = 4, .priority = 5, .topology = required("rack")});
  hall.job({.name = "low", .queue = "q", .count = 1});
  EXPECT_EQ(hall.settle(), (Texts{"admit a", "admit low"}));
  hall.node(1, 2, "2", false);
  const Result result = hall.second_pass("a", {"r1-n2"});
  EXPECT_FALSE(result.ok());
  EXPECT_TRUE(result.preemptions.empty());
  EXPECT_TRUE(result.message.starts_with("couldn't assign flavors to pod set main: ")) << result.message;
  hall.finish("low");
  EXPECT_EQ(hall.place("a", {"r1-n2"}), "r1-n1:2 r1-n3:2");
}

TEST(SecondPass, AReplacementDoesNotTakeWhatWasAdmittedBefore) {
  Written hall(1, 3, "2");
  hall.queue(queue_of("q"));
  hall.job({.name = "a", .queue = "q", .count = 4, .topology = required("rack")});
  EXPECT_EQ(hall.settle(), Texts{"admit a"});
  hall.node(1, 2, "2", false);
  hall.job({.name = "b", .queue = "q", .count = 2});
  EXPECT_EQ(hall.settle(), Texts{"admit b"});
  EXPECT_EQ(hall.placed("b"), "r1-n3:2");
  EXPECT_FALSE(hall.second_pass("a", {"r1-n2"}).ok());
}

TEST(SecondPass, WhoHoldsNoQuotaGetsNoPlaces) {
  Written hall(1, 1, "4");
  hall.queue(queue_of("q"), {"f"});
  hall.job({.name = "a", .queue = "q", .count = 1});
  EXPECT_EQ(hall.settle(), Texts{"admit a"});
  hall.scheduler.release(hall.id("a"));
  const Result result = hall.second_pass("a");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.message, "the workload holds no quota");
}

}  // namespace
}  // namespace berth::engine::second_pass_test
