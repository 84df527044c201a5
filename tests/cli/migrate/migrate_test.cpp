// berth migrate check: what a cluster of Kueue's has that Berth treats in another way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "cli/migrate/migrate_check.h"
#include "cli/migrate/world_server.h"

namespace berth::cli::migrate::migrate_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<Json> objects(std::string_view yaml) { return parse_yaml(yaml).value(); }

// "WEIGHT KIND NAME: what" of each.
std::string found_in(const ClusterObjects& cluster) {
  std::string out;
  for (const Difference& one : differences(cluster)) {
    EXPECT_FALSE(one.to_do.empty()) << one.what;
    out += std::string(word(one.weight)) + " " + one.kind + " " + one.name + ": " + one.what + "\n";
  }
  return out;
}

ClusterObjects with_configuration(const std::string& text) {
  ClusterObjects cluster;
  cluster.config_map = "kueue-system/kueue-manager-config";
  cluster.configuration = queues::ConfigurationSource{
      "ConfigMap", "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + text};
  return cluster;
}

TEST(MigrateCheck, APlainClusterHasNoDifference) {
  ClusterObjects cluster = with_configuration("");
  cluster.objects["ClusterQueue"] = objects("{metadata: {name: q}, spec: {namespaceSelector: {}}}");
  cluster.objects["Workload"] = objects(
      "{metadata: {name: a, namespace: n}, spec: {podSets: [{name: main, count: 1, template: {spec: {}}}]}, status: "
      "{conditions: [{type: Admitted, status: 'True'}]}}\n---\n"
      "{metadata: {name: b, namespace: n}, spec: {podSets: [{name: main, count: 1, template: {spec: {}}}]}}\n---\n"
      "{metadata: {name: c, namespace: n}, status: {conditions: [{type: Finished, status: 'True'}]}}");
  cluster.jobs = objects("{metadata: {name: j, namespace: n, labels: {kueue.x-k8s.io/queue-name: q}}}");
  EXPECT_THAT(found_in(cluster), IsEmpty());
  const TakenOver kept = taken_over(cluster);
  EXPECT_EQ(kept.admitted, 1u);
  EXPECT_EQ(kept.waiting, 1u);
  EXPECT_EQ(kept.finished, 1u);
  EXPECT_EQ(kept.queues, 1u);
}

TEST(MigrateCheck, TheConfigurationIsJudgedWithTheGatesOfTheProcess) {
  EXPECT_THAT(found_in(with_configuration("queueVisibility: {x: 1}\n")),
              HasSubstr("first Configuration kueue-system/kueue-manager-config: Berth does not start with it"));
  EXPECT_THAT(found_in(with_configuration("featureGates: {ConcurrentAdmission: true}\n")),
              HasSubstr("differs Configuration kueue-system/kueue-manager-config: featureGates.ConcurrentAdmission"));
  ClusterObjects cluster = with_configuration("");
  cluster.deployment = objects(
      "{spec: {template: {spec: {containers: [{args: ['--config=/c.yaml', "
      "'--feature-gates=ConcurrentAdmission=true']}]}}}}")[0];
  EXPECT_THAT(found_in(cluster), HasSubstr("ConcurrentAdmission"));
  ClusterObjects without;
  without.config_map = "a/b";
  EXPECT_THAT(found_in(without), HasSubstr("note ConfigMap a/b: it does not exist"));
}

TEST(MigrateCheck, ChecksOfMultiKueueAreNotForPods) {
  ClusterObjects cluster = with_configuration("");
  cluster.objects["AdmissionCheck"] = objects(
      "{metadata: {name: away}, spec: {controllerName: kueue.x-k8s.io/multikueue}}\n---\n"
      "{metadata: {name: unused}, spec: {controllerName: kueue.x-k8s.io/multikueue}}");
  cluster.objects["ClusterQueue"] =
      objects("{metadata: {name: q}, spec: {admissionChecksStrategy: {admissionChecks: [{name: away}]}}}");
  cluster.objects["MultiKueueConfig"] =
      objects("{metadata: {name: workers}, spec: {clusters: [a], quotaManagement: Automated}}");
  const std::string found = found_in(cluster);
  EXPECT_THAT(found, HasSubstr("differs AdmissionCheck away: it is a check of MultiKueue"));
  EXPECT_THAT(found, HasSubstr("of ClusterQueue q no pods, StatefulSets, LeaderWorkerSets and elastic jobs run"));
  EXPECT_THAT(found, Not(HasSubstr("unused")));
  EXPECT_THAT(found, HasSubstr("differs MultiKueueConfig workers:"));
}

TEST(MigrateCheck, WorkloadsOfMissingFeaturesMustEndFirst) {
  ClusterObjects cluster = with_configuration("");
  cluster.objects["Workload"] = objects(
      "{metadata: {name: remote, namespace: n}, status: {clusterName: far}}\n---\n"
      "{metadata: {name: job, namespace: n, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j}]}, status: "
      "{clusterName: far}}\n---\n"
      "{metadata: {name: set, namespace: n, ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, "
      "name: j}]}, status: {clusterName: far}}\n---\n"
      "{metadata: {name: variant, namespace: n, labels: {kueue.x-k8s.io/concurrent-admission-parent: p}}}\n---\n"
      "{metadata: {name: over, namespace: n}, status: {clusterName: far, conditions: [{type: Finished, status: "
      "'True'}]}}");
  const std::string found = found_in(cluster);
  EXPECT_THAT(found, HasSubstr("first Workload n/remote: its job runs in the worker cluster far"));
  EXPECT_THAT(found, Not(HasSubstr("n/job")));
  EXPECT_THAT(found, Not(HasSubstr("n/set")));
  EXPECT_THAT(found, HasSubstr("first Workload n/variant: it is a variant"));
  EXPECT_THAT(found, Not(HasSubstr("n/over"))) << "what is finished stays as it is";
}

TEST(MigrateCheck, WhatAdmissionWarnsAboutIsListedForEachObject) {
  ClusterObjects cluster = with_configuration("");
  cluster.objects["ClusterQueue"] = objects(
      "{metadata: {name: q, annotations: {kueue.x-k8s.io/preemption-config-name: heroes}}, spec: "
      "{concurrentAdmissionPolicy: {mode: X}}}");
  EXPECT_EQ(
      found_in(cluster),
      "differs ClusterQueue q: spec.concurrentAdmissionPolicy is not honoured: a workload has one place in the "
      "queue and takes the first flavor that fits; metadata.annotations[kueue.x-k8s.io/preemption-config-name] is "
      "not honoured: the `preemption` of the ClusterQueue decides alone\n");
}

TEST(MigrateCheck, ShortNamesOfSetsAreFoundWhenTheirGateIsOn) {
  ClusterObjects cluster = with_configuration("featureGates: {ShortWorkloadNames: true}\n");
  const std::string name(63, 'a');
  cluster.objects["Workload"] =
      objects("{metadata: {name: " + name +
              ", namespace: n, ownerReferences: [{kind: StatefulSet, name: web}]}}\n---\n"
              "{metadata: {name: b, namespace: n, ownerReferences: [{kind: StatefulSet, name: "
              "web}]}}");
  EXPECT_EQ(found_in(cluster), "first Workload n/" + name +
                                   ": its name may be a short one (gate ShortWorkloadNames); Berth looks for the whole "
                                   "name of the workload of a StatefulSet\n");
  cluster.configuration = with_configuration("").configuration;
  EXPECT_THAT(found_in(cluster), IsEmpty());
}

TEST(MigrateCheck, QueuesInAnnotationsAndOtherKindsAreFound) {
  ClusterObjects cluster = with_configuration("");
  cluster.jobs = objects(
      "{metadata: {name: waits, namespace: n, annotations: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true}}\n"
      "---\n{metadata: {name: runs, namespace: n, annotations: {kueue.x-k8s.io/queue-name: q}}}\n---\n"
      "{metadata: {name: done, namespace: n, annotations: {kueue.x-k8s.io/queue-name: q}}, status: {conditions: "
      "[{type: Complete, status: 'True'}]}}");
  cluster.foreign["PreemptionConfig"] = objects("{metadata: {name: heroes}}");
  cluster.definitions = objects("{metadata: {name: workloads.kueue.x-k8s.io}, status: {storedVersions: [v1beta1]}}");
  cluster.webhooks = objects("{kind: MutatingWebhookConfiguration, metadata: {name: kueue-mutating}}");
  cluster.populator = true;
  EXPECT_EQ(found_in(cluster),
            "first Job n/waits: its queue is in the annotation kueue.x-k8s.io/queue-name, which counts no more: it "
            "would lose its workload and its place\n"
            "differs Job n/runs: its queue is in the annotation kueue.x-k8s.io/queue-name, which counts no more: it "
            "runs to its end without a queue\n"
            "differs PreemptionConfig heroes: Berth has no such kind: the object stays and has no effect\n"
            "note CustomResourceDefinition workloads.kueue.x-k8s.io: objects may be stored as v1beta1, which Berth "
            "reads and converts\n"
            "note Deployment kueue-populator: Berth makes default local queues itself\n"
            "note MutatingWebhookConfiguration kueue-mutating: it sends kinds to Kueue that Berth does not serve\n");
}

// --- On a cluster.

class MigrateCommand : public testing::Test {
 protected:
  MigrateCommand() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-11-28T09:00:00Z").value();
    options.controller = false;
    world = simulate::World::make(options).value();
    make(R"(
{apiVersion: v1, kind: Namespace, metadata: {name: kueue-system}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: kueue-manager-config, namespace: kueue-system}, data:
  {controller_manager_config.yaml: "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {namespaceSelector: {}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: l, namespace: default}, spec: {clusterQueue: q}}
)");
  }
  void make(std::string_view yaml) {
    std::vector<Json> list = parse_yaml(yaml).value();
    for (Json& object : list) {
      const auto made = world->create(std::move(object));
      ASSERT_TRUE(made) << made.error().message;
    }
  }
  std::unique_ptr<simulate::World> world;
};

TEST_F(MigrateCommand, SaysThatBerthMayTakeOver) {
  const auto ran = testing_support::run(*world, {"migrate", "check"});
  EXPECT_EQ(ran.code, 0) << ran.said;
  EXPECT_EQ(ran.said, "Taken over as they are: 0 admitted, 0 waiting and 0 finished workloads, 2 queues\n");
}

TEST_F(MigrateCommand, ExitsWithOneWhenSomethingMustBeChangedFirst) {
  make(R"({apiVersion: batch/v1, kind: Job, metadata: {name: old, namespace: default, annotations:
    {kueue.x-k8s.io/queue-name: l}}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers:
    [{name: c, image: i}]}}}})");
  const auto ran = testing_support::run(*world, {"migrate", "check"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.said, HasSubstr("To be changed before Berth takes over:\n  Job default/old: its queue is in"));
  EXPECT_THAT(ran.said, HasSubstr("\n    give it the label kueue.x-k8s.io/queue-name\n"));
  const auto json = testing_support::run(*world, {"migrate", "check", "-o", "json"});
  EXPECT_EQ(json.code, 1);
  const Json out = parse_json(json.said).value();
  ASSERT_EQ(array_at(out, {"differences"}).size(), 1u);
  EXPECT_EQ(string_at(array_at(out, {"differences"})[0], {"weight"}), "first");
  EXPECT_EQ(int_at(out, {"queues"}), 2);
}

}  // namespace
}  // namespace berth::cli::migrate::migrate_test
