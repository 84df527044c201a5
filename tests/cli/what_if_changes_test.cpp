// The changes of a what-if as events: what is refused, and what the refusal names.
#include "cli/what_if_changes.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "engine/explain/what_if.h"
#include "engine/support/build.h"
#include "jobs/compose.h"
#include "jobs/job_adapter.h"

namespace berth::cli::what_if_changes_test {
namespace {

namespace test = engine::test;

class WhatIfChanges : public testing::Test {
 protected:
  WhatIfChanges() {
    const auto report = [&](engine::Event event) { engine.handle(test::kEpoch, event); };
    report(engine::NamespaceSeen{"ns", {}});
    report(engine::ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    report(engine::ClusterQueueSeen{
        std::make_shared<const api::kueue::ClusterQueue>(test::ClusterQueueBuilder("cq").cpu({{"f", "4"}}).build())});
    report(engine::LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
    report(engine::WorkloadSeen{
        std::make_shared<const api::kueue::Workload>(test::WorkloadBuilder("w", "q").pods(1, "1").build())});
    auto topology = std::make_shared<api::kueue::Topology>();
    topology->meta.name = "t";
    report(engine::TopologySeen{std::move(topology)});
    auto check = std::make_shared<api::kueue::AdmissionCheck>();
    check->meta.name = "ac";
    report(engine::AdmissionCheckSeen{std::move(check)});
    auto node = std::make_shared<api::Node>();
    node->name = "n";
    report(engine::NodeSeen{std::move(node)});
    report(engine::Synced{});
  }
  // What is wrong with the changes of this WhatIf; "" when nothing is.
  std::string wrong(const std::string& spec) {
    const auto changes = changes_of(parse_yaml("spec: " + spec).value().front(), engine, test::kEpoch);
    return changes ? "" : changes.error().message;
  }
  engine::Engine engine{engine::Options()};
};

TEST_F(WhatIfChanges, OfANamespaceAreItsNewJobs) {
  const auto refused = [](const std::string& spec) {
    const auto checked = check_local(parse_yaml("spec: " + spec).value().front(), "ns");
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(refused("{apply: [{kind: Job, apiVersion: batch/v1, metadata: {name: j, namespace: ns}}]}"), "");
  EXPECT_EQ(refused("{apply: [{kind: Workload, metadata: {name: w, namespace: ns}}]}"), "");
  EXPECT_EQ(refused("{apply: [{kind: Job, metadata: {name: j, namespace: other}}]}"),
            "spec.apply[0].metadata.namespace: \"other\", expected the namespace of the LocalWhatIf, ns");
  EXPECT_NE(refused("{apply: [{kind: Job, metadata: {name: j}}]}"), "");
  EXPECT_NE(refused("{delete: [{kind: Workload, namespace: ns, name: w}]}").find("spec.delete: "), std::string::npos);
  EXPECT_NE(refused("{drain: [{key: rack, value: r1}]}").find("spec.drain: "), std::string::npos);
  EXPECT_NE(refused("{apply: [{kind: Workload, metadata: {name: w, namespace: ns}, status: {admission: {}}}]}"), "");
  std::string many;
  for (std::size_t i = 0; i <= kMaxLocalObjects; ++i)
    many += "{kind: Workload, metadata: {name: w" + std::to_string(i) + ", namespace: ns}}, ";
  EXPECT_EQ(refused("{apply: [" + many + "]}"), "spec.apply: 17 objects, expected at most 16 in a LocalWhatIf");
  // Whatever their group is said to be.
  for (const char* kind :
       {"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology", "AdmissionCheck", "Node"}) {
    EXPECT_EQ(
        refused("{apply: [{kind: " + std::string(kind) + ", apiVersion: a/v1, metadata: {namespace: ns}}]}"),
        "spec.apply[0].kind: " + std::string(kind) + ", expected a job or a Workload; other objects need a WhatIf");
  }
  EXPECT_TRUE(check_local(parse_yaml("spec: {drain: [{key: a, value: b}]}").value().front(), "")) << "of the cluster";
}

TEST_F(WhatIfChanges, DeleteOnlyWhatIsThere) {
  for (const char* there :
       {"kind: ClusterQueue, name: cq", "kind: LocalQueue, namespace: ns, name: q", "kind: ResourceFlavor, name: f",
        "kind: Topology, name: t", "kind: AdmissionCheck, name: ac", "kind: Workload, namespace: ns, name: w",
        "kind: Node, name: n"})
    EXPECT_EQ(wrong("{delete: [{" + std::string(there) + "}]}"), "") << there;
  const std::pair<std::string, std::string> missing[] = {
      {"kind: ClusterQueue, name: none", "ClusterQueue none"},
      {"kind: Cohort, name: none", "Cohort none"},
      {"kind: LocalQueue, namespace: other, name: q", "LocalQueue other/q"},
      {"kind: ResourceFlavor, name: none", "ResourceFlavor none"},
      {"kind: Topology, name: none", "Topology none"},
      {"kind: AdmissionCheck, name: none", "AdmissionCheck none"},
      {"kind: Workload, namespace: ns, name: none", "Workload ns/none"},
      {"kind: Node, name: none", "Node none"},
  };
  for (const auto& [object, name] : missing)
    EXPECT_EQ(wrong("{delete: [{kind: Node, name: n}, {" + object + "}]}"),
              "spec.delete[1]: " + name + " does not exist");
}

TEST_F(WhatIfChanges, NameWhatIsWrong) {
  const std::string queue = "apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: ns}";
  const std::pair<std::string, std::string> cases[] = {
      {"{}", "spec: expected changes in apply, delete or drain"},
      {"{apply: all}", "spec: expected changes in apply, delete or drain"},
      {"{delete: [{kind: Pod, name: p}]}", "spec.delete[0]: kind \"Pod\": expected ClusterQueue, Cohort, "},
      {"{delete: [{kind: Node}]}", "spec.delete[0]: name: expected the name of an object"},
      {"{delete: [5]}", "spec.delete[0]: name: expected the name of an object"},
      {"{drain: [{key: zone, value: b}]}", "spec.drain[0]: no node has the label zone=b"},
      {"{apply: [{kind: Pod, metadata: {name: p}}]}",
       "spec.apply[0]: Pod of  cannot be tried: expected a queue, flavor, topology, "},
      {"{apply: [7]}", "spec.apply[0]: metadata.name: expected the name of an object"},
      {"{apply: [{kind: ClusterQueue, spec: {}}]}", "spec.apply[0]: metadata.name: expected the name of an object"},
      {"{apply: [{kind: ClusterQueue, metadata: {name: x}, spec: {fairSharing: {weight: '-1'}}}]}",
       "spec.apply[0]: ClusterQueue x: spec.fairSharing.weight: Invalid value: \"-1\": must be greater than or equal "
       "to 0"},
      {"{apply: [{kind: Workload, metadata: {name: x, namespace: ns}, spec: {podSets: [{name: a, minCount: 1}, {name: "
       "b, minCount: 1}]}}]}",
       "spec.apply[0]: Workload ns/x: spec.podSets: Invalid value: 2: at most one podSet can use minCount"},
      {"{apply: [{" + queue + ", spec: {clusterQueue: cq, fairSharing: {weight: heavy}}}]}",
       "spec.apply[0]: LocalQueue ns/q: spec.fairSharing.weight: quantities must match"},
      {"{apply: [{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns}, spec: {parallelism: -3}}]}",
       "spec.apply[0]: spec.parallelism: -3, expected 0 or more"},
      {"{apply: [{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns}, spec: {completions: -1}}]}",
       "spec.apply[0]: spec.completions: -1, expected 0 or more"},
      {"{apply: [{kind: Workload, metadata: {name: x, namespace: ns}, spec: {queueName: q, podSets: [{name: a, count: "
       "-2, template: {spec: {containers: []}}}]}}]}",
       "spec.apply[0]: spec.podSets[0].count: -2, expected 0 or more"},
  };
  for (const auto& [spec, expected] : cases)
    EXPECT_TRUE(wrong(spec).starts_with(expected)) << spec << "\n" << wrong(spec);
}

// No API server has seen these: they are refused, or tried without harm.
TEST_F(WhatIfChanges, ThatAreHostileDoNoHarm) {
  const std::string object = "metadata: {name: x, namespace: ns}, spec: ";
  for (const std::string spec :
       {"null", "{}", "5", "{podSets: []}", "{queueName: q, active: true}", "{queueName: q, podSets: {}}",
        "{queueName: q, podSets: [{name: a, count: -5, template: {}}]}", "{queueName: q, podSets: [null]}",
        "{queueName: q, podSets: [{name: a, count: 2147483647, template: {spec: {containers: [{resources: {requests: "
        "{cpu: 9e18}}}]}}}]}",
        "{resourceGroups: [{}]}", "{resourceGroups: [{coveredResources: [cpu], flavors: [{}]}]}",
        "{resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
        "-4}]}]}]}",
        "{resourceGroups: [{coveredResources: [cpu, cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
        "4}, "
        "{name: cpu, nominalQuota: 9e99}]}, {name: f}]}]}",
        "{parentName: x}", "{cohortName: '../x', queueingStrategy: LIFO}", "{clusterQueue: x}", "{levels: [{}, 5]}",
        "{nodeLabels: 5, topologyName: x}"}) {
    for (const char* kind :
         {"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology", "AdmissionCheck", "Workload", "Node"}) {
      const std::string yaml = "spec: {apply: [{kind: " + std::string(kind) + ", " + object + spec + "}]}";
      const auto changes = changes_of(parse_yaml(yaml).value().front(), engine, test::kEpoch);
      if (!changes) {
        EXPECT_TRUE(changes.error().message.starts_with("spec.apply[0]: ")) << changes.error().message;
      } else {
        SCOPED_TRACE(yaml);
        engine::what_if(engine, test::kEpoch, *changes);
      }
    }
  }
}

// Kueue accepts these too: a local queue that counts for nothing goes last, and the largest weights are alike.
TEST_F(WhatIfChanges, TakeAnyWeightOfALocalQueue) {
  const auto weight = [&](const std::string& text) {
    const auto changes = changes_of(
        parse_yaml("spec: {apply: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, "
                   "namespace: ns}, spec: {clusterQueue: cq, fairSharing: {weight: '" +
                   text + "'}}}]}")
            .value()
            .front(),
        engine, test::kEpoch);
    EXPECT_TRUE(changes) << changes.error().message;
    const auto fraction = std::get<engine::LocalQueueSeen>(changes->front()).object->fair_weight.fraction();
    return std::pair(fraction.numerator, fraction.denominator);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(weight("500m"), Pair(1, 2));
  EXPECT_EQ(weight("0").first, 0u);
  EXPECT_EQ(weight("-3").first, 0u);
  EXPECT_EQ(weight("1e30"), weight("9e99"));
  EXPECT_GE(weight("1e30").first, std::uint64_t{1} << 62);
}

// An elastic job that runs with two pods: its slice is "running".
class ElasticWhatIf : public WhatIfChanges {
 protected:
  ElasticWhatIf() {
    jobs::JobFacts facts;
    facts.global_default_priority_class = [] { return std::optional<std::pair<std::string, std::int32_t>>(); };
    auto slice = jobs::compose_for_job(jobs::batch_job(), job(2), "running", facts).value();
    slice.meta.uid = "slice";
    slice.meta.resource_version = "5";
    slice.meta.annotations["kueue.x-k8s.io/elastic-job"] = "true";
    slice.meta.annotations["kueue.x-k8s.io/workload-slice-name"] = "running";
    slice.status.admission = api::kueue::Admission{"cq", std::vector<api::kueue::PodSetAssignment>(1)};
    auto& assigned = slice.status.admission->pod_set_assignments.front();
    assigned.count = 2;
    assigned.flavors = {{"cpu", "f"}};
    assigned.resource_usage = {{"cpu", Quantity::parse("2").value()}};
    for (const auto type : {api::kueue::kQuotaReserved, api::kueue::kAdmitted}) {
      auto& condition = slice.status.conditions.emplace_back();
      condition.type = type;
      condition.status = true;
    }
    engine.handle(test::kEpoch, engine::WorkloadSeen{std::make_shared<const api::kueue::Workload>(std::move(slice))});
  }
  static Json job(int pods) {
    Json out = parse_yaml(R"({apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: ns, uid: u, generation: 3,
      labels: {kueue.x-k8s.io/queue-name: q}, annotations: {kueue.x-k8s.io/elastic-job: 'true'}},
      spec: {suspend: false, completions: 30, template: {spec: {containers: [{name: c, image: i,
      resources: {requests: {cpu: 1}}}]}}}})")
                   .value()
                   .front();
    ensure_path(out, {"spec", "parallelism"}) = pods;
    return out;
  }
  engine::WhatIf with(int pods) {
    const auto changes =
        changes_of(JsonObject{{"spec", JsonObject{{"apply", JsonArray{job(pods)}}}}}, engine, test::kEpoch);
    EXPECT_TRUE(changes) << changes.error().message;
    return engine::what_if(engine, test::kEpoch, *changes);
  }
};

TEST_F(ElasticWhatIf, AJobThatRunsGrowsAndIsNoSecondJob) {
  const auto grown = with(3);
  ASSERT_EQ(grown.moved.size(), 1u);
  EXPECT_EQ(grown.moved[0].before, "main 2 x f");
  EXPECT_EQ(grown.moved[0].after, "main 3 x f");
  EXPECT_TRUE(grown.admitted.empty());
  EXPECT_TRUE(grown.gone.empty());
  EXPECT_TRUE(grown.waiting.empty());
}

TEST_F(ElasticWhatIf, OrWaitsForTheDifferenceAndRunsOn) {
  const auto waits = with(4);  // the workload w has the fourth cpu
  ASSERT_EQ(waits.waiting.size(), 1u);
  EXPECT_NE(waits.waiting[0].text.find("1 more needed"), std::string::npos) << waits.waiting[0].text;
  EXPECT_TRUE(waits.moved.empty());
  EXPECT_TRUE(waits.gone.empty());
}

TEST_F(ElasticWhatIf, OrShrinksInPlace) {
  const auto shrunk = with(1);
  ASSERT_EQ(shrunk.moved.size(), 1u);
  EXPECT_EQ(shrunk.moved[0].workload, "ns/running");
  EXPECT_EQ(shrunk.moved[0].after, "main 1 x f");
}

}  // namespace
}  // namespace berth::cli::what_if_changes_test
