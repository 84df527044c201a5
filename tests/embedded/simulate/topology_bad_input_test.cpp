// Topology requests that cannot be satisfied, and invalid objects: they are refused, or the waiting workload says
// why. Valid jobs are placed all the same.
#include <gmock/gmock.h>

#include "controller/controller.h"
#include "embedded/simulate/placed_world.h"

namespace berth::simulation::topology_bad_input_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TopologyBadInput : public PlacedWorld {
 protected:
  TopologyBadInput() { make("1x1x3"); }

  // A valid job is still placed.
  void others_go_on() {
    const std::string name = "sensible" + std::to_string(++sensible_);
    apply(placed_job(name, 1, "1", std::string(kRequiredRack) + ", berth.dev/run-for: 5s"));
    pass(4);
    EXPECT_TRUE(admitted(name)) << waits(name);
    EXPECT_EQ(nodes_of(name).size(), 1u);
    pass(10);
  }
  std::string refused_job(const std::string& annotations, int pods = 5) {
    return refusal(placed_job("bad", pods, "1", annotations));
  }
  // Creates a ResourceFlavor with this topology, a ClusterQueue and a LocalQueue, all called `name`.
  void another_queue(const std::string& name, const std::string& topology) {
    apply_all("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + name +
              "}, spec: {nodeLabels: {cloud.provider.com/node-group: tas-group}, topologyName: " + topology + "}}");
    apply_all("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
              "}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: " + name +
              ", resources: [{name: cpu, nominalQuota: 10}]}]}]}}");
    apply_all("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
              ", namespace: default}, spec: {clusterQueue: " + name + "}}");
  }

  int sensible_ = 0;
};

TEST_F(TopologyBadInput, ATopologyThatDoesNotExist) {
  another_queue("lost", "nowhere");
  apply(placed_job("j", 1, "1", std::string(kRequiredRack), "lost"));
  pass(5);
  const auto active = [this] {
    return condition(world->get("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "lost").value(), "Active");
  };
  EXPECT_EQ(string_at(active(), {"status"}), "False");
  EXPECT_EQ(string_at(active(), {"reason"}), "TopologyNotFound");
  EXPECT_THAT(std::string(string_at(active(), {"message"})),
              HasSubstr("there is no Topology \"nowhere\" for TAS flavor \"lost\""));
  EXPECT_EQ(waits("j"), "ClusterQueue lost is inactive: there is no Topology \"nowhere\" for TAS flavor \"lost\"");
  others_go_on();
  apply_all(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: nowhere}, spec: {levels: "
      "[{nodeLabel: "
      "cloud.provider.com/topology-rack}]}}");
  pass(5);
  EXPECT_EQ(string_at(active(), {"status"}), "True");
  EXPECT_TRUE(admitted("j")) << "once it is there";
}

TEST_F(TopologyBadInput, ALevelThatTheTopologyDoesNotHave) {
  apply(placed_job("j", 1, "1", "kueue.x-k8s.io/podset-required-topology: zone"));
  apply(placed_job("k", 2, "1",
                   std::string(kRequiredRack) + ", kueue.x-k8s.io/podset-slice-required-topology: zone, "
                                                "kueue.x-k8s.io/podset-slice-size: \"1\""));
  pass(5);
  EXPECT_THAT(waits("j"), HasSubstr("Flavor \"racked\" does not contain the requested level"));
  EXPECT_THAT(waits("k"), HasSubstr("Flavor \"racked\" does not contain the requested level"));
  others_go_on();
}

TEST_F(TopologyBadInput, SlicesAboveWhatTheyAreCutFrom) {
  apply(placed_job("j", 2, "1",
                   "kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname, "
                   "kueue.x-k8s.io/podset-slice-required-topology: cloud.provider.com/topology-rack, "
                   "kueue.x-k8s.io/podset-slice-size: \"1\""));
  pass(5);
  EXPECT_THAT(waits("j"),
              HasSubstr("cloud.provider.com/topology-rack is above the podset topology kubernetes.io/hostname"));
  others_go_on();
}

TEST_F(TopologyBadInput, SlicesThatAreTooLargeOrNoNumber) {
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-slice-required-topology: cloud.provider.com/topology-rack, "
                          "kueue.x-k8s.io/podset-slice-size: \"6\""),
              HasSubstr("must not be greater than pod set count 5"));
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-slice-required-topology: cloud.provider.com/topology-rack, "
                          "kueue.x-k8s.io/podset-slice-size: many"),
              HasSubstr("must be a numeric value"));
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-slice-required-topology: cloud.provider.com/topology-rack"),
              HasSubstr("must be set when 'kueue.x-k8s.io/podset-slice-required-topology' is specified"));
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-slice-required-topology-constraints: "
                          "'[{\"topology\": \"rack\", \"size\": 4}, {\"topology\": \"node\", \"size\": 3}]'",
                          8),
              HasSubstr("must evenly divide the parent layer size 4"));
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-slice-required-topology-constraints: 'rack=4'"),
              HasSubstr("must be a valid JSON array"));
  others_go_on();
}

TEST_F(TopologyBadInput, TwoModesAtOnce) {
  EXPECT_THAT(
      refused_job(std::string(kRequiredRack) + ", kueue.x-k8s.io/podset-unconstrained-topology: \"true\""),
      HasSubstr("must not contain more than one topology annotation: [\"kueue.x-k8s.io/podset-required-topology\", "
                "\"kueue.x-k8s.io/podset-preferred-topology\", \"kueue.x-k8s.io/podset-unconstrained-topology\"]"));
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-unconstrained-topology: maybe"), HasSubstr("must be a boolean value"));
  EXPECT_THAT(refused_job("kueue.x-k8s.io/podset-required-topology: 'a rack'"), HasSubstr("Invalid value: \"a rack\""));
  others_go_on();
}

TEST_F(TopologyBadInput, TopologiesThatAreNone) {
  const auto topology = [this](const std::string& levels) {
    return refusal(
        parse_yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: bad}, spec: {levels: " +
                   levels + "}}")
            .value()
            .front());
  };
  EXPECT_THAT(topology("[{nodeLabel: kubernetes.io/hostname}, {nodeLabel: rack}]"),
              HasSubstr("the kubernetes.io/hostname label can only be used at the lowest level of topology"));
  EXPECT_THAT(topology("[{nodeLabel: rack}, {nodeLabel: rack}]"), HasSubstr("must be unique"));
  EXPECT_THAT(topology("[]"), HasSubstr("spec.levels"));
  others_go_on();
}

TEST_F(TopologyBadInput, ANodeWithoutAllLevels) {
  apply_all(
      "{apiVersion: v1, kind: Node, metadata: {name: loose, labels: {kubernetes.io/hostname: loose, "
      "cloud.provider.com/node-group: tas-group}}}");
  pass(5);
  apply(placed_job("four", 4, "3", "kueue.x-k8s.io/podset-unconstrained-topology: \"true\", berth.dev/run-for: 60s"));
  pass(5);
  EXPECT_THAT(waits("four"), HasSubstr("topology \"room\" allows to fit only 3 out of 4 pod(s)"));
  others_go_on();
  patch("Node", "loose", "{metadata: {labels: {cloud.provider.com/topology-rack: b1-r1}}}");
  pass(5);
  EXPECT_THAT(nodes_of("four"), ElementsAre("b1-r1-n1", "b1-r1-n2", "b1-r1-n3", "loose")) << "once it has them";
}

// Topology assignments that other clients write into a workload's status.
class TopologyForeignAssignment : public TopologyBadInput {
 protected:
  api::RestResponse write_places(const std::string& slices, const std::string& levels = "[kubernetes.io/hostname]") {
    Json status = *find(workload("gang"), "status");
    Json& assignment = status.at_pointer("/admission/podSetAssignments/0");
    assignment.as_object()["topologyAssignment"] =
        parse_yaml("{levels: " + levels + ", slices: " + slices + "}").value().front();
    return send(api::Verb::kPatch, "Workload", workload_name("gang"), "status", JsonObject{{"status", status}});
  }
  void run_gang() {
    apply(placed_job("gang", 2, "3", std::string(kRequiredRack) + ", berth.dev/run-for: 10m"));
    pass(5);
    ASSERT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n2"));
  }
};

// An assignment of 1,100,000 domains: more than any cluster has, but the schema permits it.
std::string millions() {
  std::string slices;
  for (int i = 0; i < 11; ++i)
    slices += "{domainCount: 100000, valuesPerLevel: [{universal: a}], podCounts: {universal: 1}}, ";
  return "[" + slices + "]";
}

TEST_F(TopologyForeignAssignment, ThatCannotBeReadIsRefusedWithItsPath) {
  run_gang();
  const auto why = [this](const std::string& slices, const std::string& levels = "[kubernetes.io/hostname]") {
    const auto response = write_places(slices, levels);
    return response.ok() ? "" : std::string(api::status_message(response));
  };
  const std::string path = "status.admission.podSetAssignments[0].topologyAssignment";
  EXPECT_THAT(why("[{domainCount: 2, valuesPerLevel: [{individual: {roots: [a]}}], podCounts: {universal: 1}}]"),
              AllOf(HasSubstr(path + ".slices[0]: Invalid value"),
                    HasSubstr("must have roots of length equal to domainCount")));
  EXPECT_THAT(why("[{domainCount: 1, valuesPerLevel: [{universal: a, individual: {roots: [a]}}], podCounts: "
                  "{universal: 1}}]"),
              AllOf(HasSubstr(path + ".slices[0].valuesPerLevel[0]"), HasSubstr("exactly one of the fields")));
  EXPECT_THAT(why("[{domainCount: 1, valuesPerLevel: [{universal: a}], podCounts: {universal: 1}}]", "[rack, host]"),
              HasSubstr("valuesPerLevel must have the same length as the number of levels"));
  EXPECT_THAT(why(millions()),
              HasSubstr(path + ": Invalid value: slices[10].domainCount: more than 1000000 domains in all"));
  others_go_on();
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n2"));
  EXPECT_TRUE(admitted("gang"));
}

TEST_F(TopologyForeignAssignment, ThatNobodyRefusesDisturbsNobodyElse) {
  make("1x1x3", true, false);
  run_gang();
  ASSERT_TRUE(write_places(millions()).ok());
  pass(5);
  others_go_on();
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b1-r1-n1", "b1-r1-n2"));
  apply(placed_job("two", 2, "3", std::string(kRequiredRack)));
  pass(5);
  EXPECT_FALSE(admitted("two")) << "what the gang holds is not given away";
  remove("Job", "gang");
  pass(30);
  EXPECT_TRUE(admitted("two")) << "and it can go";
}

TEST_F(TopologyForeignAssignment, OnANodeThatDoesNotExistIsTakenForALostNode) {
  run_gang();
  ASSERT_TRUE(write_places("[{domainCount: 2, valuesPerLevel: [{individual: {roots: [b1-r1-n1, nowhere]}}], "
                           "podCounts: {universal: 1}}]")
                  .ok());
  pass(30);
  others_go_on();
  EXPECT_TRUE(admitted("gang"));
  EXPECT_EQ(to_string(workload("gang")).find("nowhere"), std::string::npos) << to_string(workload("gang"));
}

// The schema does not check an assignment against the pods, the Topology or the free capacity.
TEST_F(TopologyForeignAssignment, ThatMakesNoSenseBreaksNothing) {
  const std::pair<const char*, const char*> nonsense[] = {
      {"[kubernetes.io/hostname]", "[]"},
      {"[kubernetes.io/hostname]",
       "[{domainCount: 1, valuesPerLevel: [{universal: b1-r1-n1}], podCounts: {universal: 1}}]"},
      {"[kubernetes.io/hostname]",
       "[{domainCount: 1, valuesPerLevel: [{universal: b1-r1-n1}], podCounts: {universal: 2147483647}}]"},
      {"[kubernetes.io/hostname]",
       "[{domainCount: 2, valuesPerLevel: [{universal: b1-r1-n1}], podCounts: {universal: 1}}]"},
      {"[other]", "[{domainCount: 1, valuesPerLevel: [{universal: x}], podCounts: {universal: 2}}]"},
      {"[kubernetes.io/hostname, cloud.provider.com/topology-rack]",
       "[{domainCount: 1, valuesPerLevel: [{universal: b1-r1-n1}, {universal: b1-r1}], podCounts: "
       "{universal: 2}}]"},
      {"[kubernetes.io/hostname]",
       "[{domainCount: 2, valuesPerLevel: [{individual: {prefix: gone, roots: ['1', '2']}}], podCounts: "
       "{universal: 1}}]"},
  };
  for (const auto& [levels, slices] : nonsense) {
    SCOPED_TRACE(slices);
    make("1x1x3");
    run_gang();
    const auto written = write_places(slices, levels);
    ASSERT_TRUE(written.ok()) << api::status_message(written);
    pass(30);
    EXPECT_THAT(world->controller().engine().check_invariants(), IsEmpty());
    remove("Node", "b1-r1-n2");
    pass(60);
    EXPECT_THAT(world->controller().engine().check_invariants(), IsEmpty());
    remove("Job", "gang");
    pass(60);
    others_go_on();
    EXPECT_THAT(world->controller().engine().check_invariants(), IsEmpty());
  }
}

}  // namespace
}  // namespace berth::simulation::topology_bad_input_test
