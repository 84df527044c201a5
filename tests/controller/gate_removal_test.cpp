// kueue_pod_scheduling_gate_removal_seconds of a whole controller: the admission and topology gates of single pods and
// of groups, each told once.
#include <gtest/gtest.h>

#include "controller/metrics_fixture.h"
#include "controller/pods_fixture.h"

namespace berth::controller::gate_removal_test {
namespace {

struct Counted {
  Metrics registry;
  ControllerMetrics metrics{registry, {}};
};

// `Counted` is made first: the controller of PodsTest leads from its beginning.
class GateRemoval : protected Counted, public PodsTest {
 protected:
  GateRemoval() : PodsTest({}, reported_to(metrics)) {}
  static ControllerOptions reported_to(ControllerMetrics& metrics) {
    ControllerOptions with = managing_pods();
    with.metrics = &metrics;
    return with;
  }
  std::string count() const {
    return metrics_fixture::lines_of(registry, "kueue_pod_scheduling_gate_removal_seconds_count");
  }
  const std::string alone = R"({cluster_queue="cq",is_group="false",name="kueue.x-k8s.io/admission"} )";
  const std::string grouped = R"({cluster_queue="cq",is_group="true",name="kueue.x-k8s.io/admission"} )";
};

TEST_F(GateRemoval, IsInformedOfSinglePodsAndOfGroups) {
  pod("p");
  pass();
  EXPECT_FALSE(gated("p"));
  EXPECT_EQ(count(), alone + "1\n");
  member("a", "g", 2);
  member("b", "g", 2);
  pod("waits", "4");
  pass();
  EXPECT_FALSE(gated("b"));
  EXPECT_TRUE(gated("waits"));
  phase("p", "Running");
  pass();
  EXPECT_EQ(count(), alone + "1\n" + grouped + "2\n");
}

TEST_F(GateRemoval, IsNotInformedOfAPodThatIsStopped) {
  pod("p", "4");
  pass();
  EXPECT_TRUE(patch(api::kWorkloads, "default", std::string(string_at(workloads().at(0), {"metadata", "name"})),
                    R"({"spec":{"active":false}})")
                  .ok());
  pass();
  EXPECT_TRUE(reported("p", "Stopped"));
  EXPECT_EQ(count(), alone + "1\n");
}

// The topology gate is removed later than the admission gate, by the ungater.
TEST_F(GateRemoval, IsInformedOfTheTopologyGate) {
  make(api::kTopologies, "Topology", "",
       "{metadata: {name: hosts}, spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}}");
  make({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "ResourceFlavor", "",
       "{metadata: {name: placed}, spec: {topologyName: hosts, nodeLabels: {pool: p}}}");
  make({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "ClusterQueue", "",
       "{metadata: {name: racks}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "
       "[{name: placed, resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
  make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "LocalQueue", "default",
       "{metadata: {name: r}, spec: {clusterQueue: racks}}");
  make(apiserver::kNodes, "Node", "",
       "{metadata: {name: n, labels: {pool: p, kubernetes.io/hostname: n}}, status: {allocatable: {cpu: '4', pods: "
       "'10'}, conditions: [{type: Ready, status: 'True'}]}}");
  EXPECT_TRUE(patch(apiserver::kNodes, "", "n", R"({"spec":{"taints":null}})").ok()) << "a new node is not ready";
  for (const auto& [name, group] : {std::pair("alone", ""), std::pair("member", ", kueue.x-k8s.io/pod-group-name: g")})
    make(apiserver::kPods, "Pod", "default",
         "{metadata: {name: " + std::string(name) +
             ", labels: {kueue.x-k8s.io/queue-name: r, kueue.x-k8s.io/managed: "
             "'true'" +
             group +
             "}, annotations: {kueue.x-k8s.io/role-hash: role, kueue.x-k8s.io/pod-group-total-count: "
             "'1', kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}, finalizers: "
             "[kueue.x-k8s.io/managed]}, "
             "spec: {restartPolicy: Never, schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: "
             "kueue.x-k8s.io/topology}], containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}");
  pass(10);
  for (const char* name : {"alone", "member"})
    EXPECT_TRUE(array_at(seen(name), {"spec", "schedulingGates"}).empty())
        << to_string(*find_path(workloads().at(0), {"status"}));
  const auto of = [](const std::string& is_group, const std::string& gate) {
    return R"({cluster_queue="racks",is_group=")" + is_group + R"(",name="kueue.x-k8s.io/)" + gate + "\"} 1\n";
  };
  EXPECT_EQ(count(),
            of("false", "admission") + of("false", "topology") + of("true", "admission") + of("true", "topology"));
}

// A finished workload is kept without what led to its end. Its later versions are counted as nothing new.
TEST_F(GateRemoval, WhatAWorkloadWentThroughIsCountedOnce) {
  pod("p");
  pass();
  phase("p", "Running");
  pass();
  phase("p", "Succeeded");
  pass();
  ASSERT_EQ(workloads().size(), 1u);
  const std::string name(string_at(workloads()[0], {"metadata", "name"}));
  ASSERT_TRUE(patch(api::kWorkloads, "default", name, R"({"metadata":{"labels":{"new":"label"}}})").ok());
  pass();
  const auto total = [&](const std::string& metric) {
    const std::string line = metrics_fixture::lines_of(registry, "kueue_" + metric);
    return line.substr(line.rfind('}') + 1);
  };
  for (const char* each :
       {"quota_reserved_workloads_total", "admitted_workloads_total", "finished_workloads_total",
        "execution_time_seconds_count", "admission_wait_time_seconds_count", "ready_wait_time_seconds_count"})
    EXPECT_EQ(total(each), " 1\n") << each;
}

}  // namespace
}  // namespace berth::controller::gate_removal_test
