// Load files: what they may contain, and the submissions that follow from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "embedded/simulate/load.h"
#include "embedded/simulate/load_files.h"
#include "source_dir.h"

namespace berth::simulation::load_test {
namespace {

using namespace load_tests;
using namespace std::chrono_literals;
using simulate::LoadKind;
using As = simulate::LoadAs;

TEST(LoadFile, SetsAreMultipliedAndSubmittedSideBySide) {
  const auto load = parsed(kTwoQueues);
  ASSERT_EQ(load.queues.size(), 2u);
  EXPECT_EQ(load.queues[0].name, "team-0-0-hall-0");
  EXPECT_EQ(load.queues[1].name, "team-0-1-hall-0");
  EXPECT_EQ(load.queues[1].cohort, "hall-0");
  ASSERT_EQ(load.kinds.size(), 2u);
  ASSERT_EQ(load.submissions.size(), 10u);
  EXPECT_EQ(load.submissions[0].at, 1s);
  EXPECT_EQ(load.submissions[2].at, 1500ms);
  EXPECT_EQ(load.submissions[2].name, "large-1-0-0");
  EXPECT_EQ(load.submissions.back().at, 4s);
  // (4 * 1 cpu * 2 s + 4 cpu * 3 s) / 4 cpu
  EXPECT_EQ(load.quota_floor, 5s);
}

TEST(LoadFile, AQueuesOwnLimitMayBeTheFloor) {
  // The cohort has quota enough, but each team queue may use only 4 nominal + 2 borrowed cpu for its 20 cpu seconds.
  const auto text = changed("queuesSets:", R"(queuesSets:
  - className: idle
    count: 1
    nominalQuota: 100
    workloadsSets:
    - {count: 1, creationIntervalMs: 1, workloads: [{className: none, runtimeMs: 0, request: 1}]})");
  EXPECT_EQ(parsed(text).quota_floor, Duration(20s) / 6);
}

TEST(LoadFile, ALimitShortensEverySet) { EXPECT_EQ(parsed(kTwoQueues, {2}).submissions.size(), 6u); }

TEST(LoadFile, AskForTopologyAsJobsAndAsWorkloads) {
  const auto load = parsed(kRacks);
  ASSERT_EQ(load.nodes.size(), 6u);
  EXPECT_EQ(string_at(load.nodes[4], {"metadata", "name"}), "rack-1-node-1");
  EXPECT_EQ(string_at(load.nodes[4], {"metadata", "labels", "example.com/rack"}), "rack-1");
  EXPECT_EQ(string_at(load.nodes[4], {"metadata", "labels", "example.com/group"}), "placed");
  ASSERT_EQ(load.submissions.size(), 6u);
  const auto annotation = [&](std::size_t i, std::string_view name) {
    return std::string(
        string_at(simulate::job_of(load, load.submissions[i]), {"spec", "template", "metadata", "annotations", name}));
  };
  EXPECT_EQ(annotation(0, "kueue.x-k8s.io/podset-required-topology"), "example.com/rack");
  EXPECT_EQ(annotation(1, "kueue.x-k8s.io/podset-preferred-topology"), "example.com/rack");
  EXPECT_EQ(annotation(2, "kueue.x-k8s.io/podset-slice-required-topology"), "example.com/rack");
  EXPECT_EQ(annotation(2, "kueue.x-k8s.io/podset-slice-size"), "2");
  const auto sliced = simulate::workload_of(load, load.submissions[2]);
  const auto& request = object_at(array_at(sliced, {"spec", "podSets"})[0], {"topologyRequest"});
  EXPECT_EQ(request.at("podSetSliceRequiredTopology"), "example.com/rack");
  EXPECT_EQ(request.at("podSetSliceSize"), 2);
}

// A server that calls no webhooks stores these pods as they are.
TEST(LoadFile, PodsHaveWhatWebhooksGiveThem) {
  const auto load = parsed(kTwoQueues);
  const auto single = simulate::pod_of(load, load.submissions[2], 0, 0);
  EXPECT_EQ(string_at(single, {"metadata", "name"}), "large-1-0-0");
  EXPECT_EQ(string_at(single, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}), "team-0-0-hall-0");
  EXPECT_EQ(string_at(single, {"metadata", "labels", "kueue.x-k8s.io/managed"}), "true");
  EXPECT_EQ(string_at(array_at(single, {"spec", "schedulingGates"})[0], {"name"}), "kueue.x-k8s.io/admission");
  EXPECT_EQ(string_at(single, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"}), "");
}

TEST(LoadFile, ConsecutiveWorkloadsBecomeOneGroup) {
  const auto load = parsed(kTwoQueues, {simulate::kMaxSubmissions, 3});
  ASSERT_EQ(load.submissions.size(), 6u) << "4 small ones become 2 groups, 1 large one becomes 1";
  EXPECT_EQ(load.submissions[0].at, 3s);
  const auto& small = load.kinds[load.submissions[0].kind];
  EXPECT_EQ(small.pods, 6);
  EXPECT_EQ(small.runtime, 6s);
  EXPECT_EQ(small.request.milli_value(), 167);
  const auto pod = simulate::pod_of(load, load.submissions[0], 5, 1);
  EXPECT_EQ(string_at(pod, {"metadata", "name"}), load.submissions[0].name + "-5-1");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "kueue.x-k8s.io/pod-group-name"}), load.submissions[0].name);
  EXPECT_EQ(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-total-count"}), "6");
  EXPECT_NE(string_at(pod, {"metadata", "annotations", "kueue.x-k8s.io/role-hash"}), "");
}

TEST(LoadFile, TheSampleCanBeRead) {
  std::ifstream in(source_path("config/samples/load.yaml"));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(parsed(text).submissions.size(), 390u);
}

TEST(LoadFile, ErrorsNameThePlace) {
  EXPECT_EQ(error_of("{}"), "load.cohorts: expected a list with at least one entry");
  EXPECT_EQ(error_of("cohort: []"),
            "load: unknown field \"cohort\"; expected one of: topology, resourceFlavor, cohorts");
  EXPECT_EQ(error_of(changed("count: 2", "count: 0")),
            "load.cohorts[0].queuesSets[0].count: expected a whole number from 1 to 1000000");
  EXPECT_EQ(error_of(changed("nominalQuota: 4", "nominalQuota: many")),
            "load.cohorts[0].queuesSets[0].nominalQuota: expected a quantity from 0, such as 20 or 500m");
  EXPECT_EQ(error_of(changed("Any", "Sometimes")),
            "load.cohorts[0].queuesSets[0].reclaimWithinCohort: expected one of: Never, LowerPriority, Any");
  EXPECT_EQ(error_of(changed("request: 4", "priorty: 4")),
            "load.cohorts[0].queuesSets[0].workloadsSets[1].workloads[0]: unknown field \"priorty\"; "
            "expected one of: "
            "className, runtimeMs, priority, request, podCount, tasConstraint, tasLevel, sliceSize");
  EXPECT_EQ(error_of(changed("nominalQuota: 4", "nominalQuota: 0")),
            "load.cohorts: the queue team-0-0-hall-0 may use nothing: all its quota is 0");
  EXPECT_EQ(error_of(changed("runtimeMs: 3000", "runtimeMs: soon")),
            "load.cohorts[0].queuesSets[0].workloadsSets[1].workloads[0].runtimeMs: expected a whole number "
            "from 0 to "
            "31536000000");
  EXPECT_EQ(error_of("- a\n---\n- b"), "a load is one YAML document, this file has 2");
}

TEST(LoadFile, TopologiesAndWhatAsksForThemMustAgree) {
  const std::string workload = "load.cohorts[0].queuesSets[0].workloadsSets[0].workloads";
  EXPECT_EQ(error_of(changed("topologyName: room", "topologyName: hall", kRacks)),
            "load.resourceFlavor.topologyName: \"hall\" is not the name of load.topology");
  EXPECT_EQ(error_of(changed("tasLevel: example.com/rack", "tasLevel: example.com/block", kRacks)),
            workload + "[0].tasLevel: \"example.com/block\" is not the nodeLabel of a level of load.topology");
  EXPECT_EQ(error_of(changed("tasConstraint: preferred, ", "", kRacks)),
            workload + "[1].tasLevel: expected together with a tasConstraint, and not without");
  EXPECT_EQ(error_of(changed("sliceSize: 2", "sliceSize: 5", kRacks)),
            workload + "[2].sliceSize: expected a whole number from 1 to 4");
  EXPECT_EQ(error_of(changed(", capacity: {cpu: 8, memory: 32Gi}", "", kRacks)),
            "load.topology.levels[1].capacity: is missing: what one node has");
  EXPECT_EQ(error_of(changed("count: 3", "count: 99999", kRacks)),
            "load.topology.levels[1].count: more than 100000 nodes in all");
}

}  // namespace
}  // namespace berth::simulation::load_test
