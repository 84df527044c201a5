// Pretend operators: the pods and statuses of jobs of described kinds, also when others interfere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "embedded/cluster/operators/operators_fixture.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster::operators_test {
namespace {

using namespace operators_tests;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kThree = {"p-master-0", "p-worker-0", "p-worker-1"};

TEST_F(OperatorsTest, PodsHaveTheNamesLabelsAndOwnerThatTopologyAndGarbageCollectionNeed) {
  job_set();
  EXPECT_THAT(names(), ElementsAre("s-w-0", "s-w-1", "s-w-2", "s-w-3"));
  const Json pod = cluster.get(kPods, "s-w-3");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "app"}), "x");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "jobset.sigs.k8s.io/job-index"}), "1");
  EXPECT_EQ(string_at(pod, {"metadata", "labels", "batch.kubernetes.io/job-completion-index"}), "1");
  EXPECT_EQ(string_at(pod, {"metadata", "annotations", "berth.dev/run-for"}), "1000s");
  EXPECT_EQ(string_at(pod, {"spec", "restartPolicy"}), "Never");
  const Json& owner = array_at(pod, {"metadata", "ownerReferences"})[0];
  EXPECT_EQ(string_at(owner, {"uid"}), string_at(cluster.get(kJobSets, "s"), {"metadata", "uid"}));
  EXPECT_TRUE(bool_at(owner, {"controller"}));
  cluster.remove(kJobSets, "s");
  cluster.pass(5);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OperatorsTest, AJobThatIsSuspendedLosesItsPodsAndGetsThemAgain) {
  pytorch("1000s");
  EXPECT_EQ(names(), kThree);
  EXPECT_EQ(condition("Running"), "True");
  const std::string before = uid("p-worker-1");
  suspend(true);
  cluster.pass(2);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(condition("Suspended"), "True");
  EXPECT_EQ(condition("Running"), "False");
  EXPECT_EQ(workers("active"), 0);
  suspend(false);
  cluster.pass(2);
  EXPECT_EQ(names(), kThree);
  EXPECT_NE(uid("p-worker-1"), before);
}

TEST_F(OperatorsTest, PodsThatStopSlowlyCountAsActiveUntilTheyAreGone) {
  pytorch("1000s", "{berth.dev/stop-after: 10s}");
  suspend(true);
  cluster.pass(3);
  EXPECT_EQ(names(), kThree);
  EXPECT_EQ(workers("active"), 2);
  suspend(false);
  cluster.pass(3);
  EXPECT_EQ(condition("Running"), "False") << "the pods of the former run end first";
  cluster.pass(10);
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, PodsThatOthersDeleteAreMadeAgain) {
  pytorch("1000s");
  const std::string before = uid("p-worker-1"), other = uid("p-worker-0");
  cluster.remove(kPods, "p-worker-1");
  cluster.pass(2);
  EXPECT_NE(uid("p-worker-1"), before);
  EXPECT_EQ(uid("p-worker-0"), other);
  EXPECT_EQ(condition("Running"), "True");
  auto gone = cluster.request(api::Verb::kDelete, kNodes, cluster.node_of("p-worker-1"));
  cluster.expect_ok(cluster.call(std::move(gone)));
  cluster.pass(300);
  EXPECT_EQ(names(), kThree);
  EXPECT_EQ(condition("Failed"), "False") << "a pod that lost its node did not fail by itself";
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, AFailedPodFailsTheJobUnlessItsContainersStartAgain) {
  pytorch("5s", "{berth.dev/exit-code: '1'}", "OnFailure");
  cluster.pass(60);
  EXPECT_EQ(condition("Failed"), "False");
  cluster.remove(kPyTorchJobs, "p");
  cluster.pass(5);
  pytorch("5s", "{berth.dev/exit-code: '1'}", "ExitCode");
  cluster.pass(60);
  EXPECT_EQ(condition("Failed"), "True");
  EXPECT_EQ(names(), kThree) << "finished pods stay";
}

TEST_F(OperatorsTest, AFinishedJobKeepsPodsThatEndedAndLosesThoseThatRun) {
  Json job = yaml("{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: m}, spec: {}}");
  for (const auto& [type, run_for] : {std::pair("Launcher", "5s"), std::pair("Worker", "1000s")})
    ensure_path(job, {"spec", "mpiReplicaSpecs", type, "template"}) = pods_for(run_for);
  cluster.create(kMpiJobs, std::move(job));
  cluster.pass(2);
  EXPECT_THAT(names(), ElementsAre("m-launcher-0", "m-worker-0"));
  cluster.pass(10);
  EXPECT_EQ(condition_status(cluster.get(kMpiJobs, "m"), "Succeeded"), "True");
  EXPECT_THAT(names(), ElementsAre("m-launcher-0"));
  cluster.remove(kPods, "m-launcher-0");
  cluster.pass(10);
  EXPECT_THAT(names(), IsEmpty()) << "a finished job stays finished";
}

TEST_F(OperatorsTest, PodsOfAJobThatIsDoneAreNotMadeAgain) {
  job_set();
  for (const std::string_view pod : {"s-w-0", "s-w-1"}) patch(kPods, pod, "{status: {phase: Succeeded}}", "status");
  cluster.pass(2);
  const auto done = [this] {
    return int_at(array_at(cluster.get(kJobSets, "s"), {"status", "replicatedJobsStatus"})[0], {"succeeded"});
  };
  EXPECT_EQ(done(), 1);
  cluster.remove(kPods, "s-w-1");
  cluster.remove(kPods, "s-w-2");
  cluster.pass(5);
  EXPECT_THAT(names(), ElementsAre("s-w-0", "s-w-2", "s-w-3"));
  EXPECT_EQ(done(), 1);
}

TEST_F(OperatorsTest, AStatusThatOthersEditIsPutRight) {
  pytorch("1000s");
  const std::string before = to_string(cluster.get(kPyTorchJobs, "p").at("status"));
  patch(kPyTorchJobs, "p",
        "{status: {replicaStatuses: {Worker: {active: 0, failed: 7}}, startTime: '2026-01-01T00:00:00Z'}}", "status");
  cluster.pass(2);
  EXPECT_EQ(workers("active"), 2);
  EXPECT_EQ(workers("failed"), 0);
  const Json now = cluster.get(kPyTorchJobs, "p");
  EXPECT_EQ(string_at(now, {"status", "startTime"}), "2026-01-01T00:00:00Z") << "fields of others stay";
  EXPECT_EQ(to_string(Json(array_at(now, {"status", "conditions"}))),
            to_string(Json(array_at(yaml(before), {"conditions"}))))
      << "conditions that do not change keep their times";
  patch(kPyTorchJobs, "p", "{status: {conditions: [{type: Mine, status: 'True'}, {type: Suspended, status: 'True'}]}}",
        "status");
  cluster.pass(2);
  EXPECT_EQ(condition("Mine"), "True");
  EXPECT_EQ(condition("Suspended"), "False");
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, NothingIsCreatedTwiceWhenTheCacheOfPodsIsLate) {
  wire.hold(kPods, true);
  pytorch("1000s");
  cluster.pass(20);
  EXPECT_EQ(names(), kThree);
  EXPECT_EQ(wire.sent["create pods"], 3);
  suspend(true);
  cluster.pass(5);
  EXPECT_THAT(names(), IsEmpty()) << "the operator knows the pods that it made";
  wire.hold(kPods, false);
  cluster.pass(5);
  EXPECT_EQ(condition("Suspended"), "True");
  EXPECT_EQ(wire.sent["create pods"], 3);
}

TEST_F(OperatorsTest, AStatusOfAnOlderJobIsNotWritten) {
  pytorch("1000s");
  wire.hold(kPyTorchJobs, true);
  patch(kPyTorchJobs, "p", "{metadata: {annotations: {mine: '1'}}}");
  cluster.remove(kPods, "p-worker-1");
  cluster.pass(3);
  wire.hold(kPyTorchJobs, false);
  cluster.pass(90);
  EXPECT_EQ(string_at(cluster.get(kPyTorchJobs, "p"), {"metadata", "annotations", "mine"}), "1");
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, TheCollectorIsNotRacedWhenTheCacheOfJobsIsLate) {
  pytorch("1000s");
  wire.hold(kPyTorchJobs, true);
  cluster.remove(kPyTorchJobs, "p");
  const int before = wire.sent["create pods"];
  cluster.pass(10);
  EXPECT_GT(wire.sent["create pods"], before) << "the operator does not know that the job is gone";
  EXPECT_LT(wire.sent["create pods"], before + 50);
  wire.hold(kPyTorchJobs, false);
  cluster.pass(5);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(OperatorsTest, ConflictsAreTriedAgain) {
  wire.conflicts = 7;
  pytorch("1000s");
  cluster.pass(30);
  EXPECT_EQ(names(), kThree);
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, AnOperatorThatStartsAnewGoesOn) {
  pytorch("1000s");
  operators.reset();
  suspend(true);
  cluster.remove(kPods, "p-worker-0");
  cluster.pass(2);
  EXPECT_EQ(names().size(), 2u);
  restart();
  cluster.pass(2);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(condition("Suspended"), "True");
}

TEST_F(OperatorsTest, APodOfSomebodyElseWithTheNameIsWaitedFor) {
  cluster.pod("p-worker-0");
  const std::string other = uid("p-worker-0");
  pytorch("1000s");
  EXPECT_EQ(condition("Running"), "False");
  EXPECT_EQ(uid("p-worker-0"), other);
  cluster.remove(kPods, "p-worker-0");
  cluster.pass(90);
  EXPECT_NE(uid("p-worker-0"), other);
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, AJobThatIsCreatedAgainGetsItsOwnPods) {
  pytorch("1000s");
  const std::string before = uid("p-worker-0");
  cluster.remove(kPyTorchJobs, "p");
  pytorch("1000s");
  cluster.pass(30);
  EXPECT_EQ(names(), kThree);
  EXPECT_NE(uid("p-worker-0"), before);
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, ASmallerPodSetLosesItsLastPods) {
  pytorch("1000s");
  patch(kPyTorchJobs, "p", "{spec: {pytorchReplicaSpecs: {Worker: {replicas: 1}}}}");
  cluster.pass(3);
  EXPECT_THAT(names(), ElementsAre("p-master-0", "p-worker-0"));
  EXPECT_EQ(condition("Running"), "True");
}

TEST_F(OperatorsTest, AJobOfTooManyPodsGetsNone) {
  pytorch("1000s");
  patch(kPyTorchJobs, "p", "{spec: {pytorchReplicaSpecs: {Worker: {replicas: 2000000000}}}}");
  cluster.pass(3);
  EXPECT_EQ(names(), kThree) << "what it has stays";
  suspend(true);
  cluster.pass(3);
  EXPECT_THAT(names(), IsEmpty());
  suspend(false);
  cluster.pass(3);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OperatorsTest, AKindIsWaitedForAndAFieldThatItDoesNotHaveIsNotWrittenForEver) {
  install(kToyCrd);
  cluster.pass(40);
  Json toy = yaml("{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {size: 1}}");
  ensure_path(toy, {"spec", "template"}) = pods_for("5s");
  cluster.create(kToys, std::move(toy));
  cluster.pass(10);
  EXPECT_THAT(names(), ElementsAre("t-main-0"));
  EXPECT_EQ(cluster.get(kToys, "t").at("status"), yaml("{phase: Running, ready: 1}"))
      << "a write that changes nothing keeps only the same status from being written";
  EXPECT_LE(wire.sent["update toys"], 4);
  const std::string before = uid("t-main-0");
  patch(kPods, "t-main-0", "{status: {phase: Failed}}", "status");
  cluster.pass(3);
  EXPECT_NE(uid("t-main-0"), before) << "a kind that serves goes on";
  patch(kToys, "t", "{spec: {size: many, template: 7}}");
  cluster.pass(3);
  EXPECT_THAT(names(), ElementsAre("t-main-0")) << "what cannot be read changes nothing";
}

TEST_F(OperatorsTest, AKindThatIsUninstalledLosesItsPods) {
  install(kToyCrd);
  Json toy = yaml("{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, spec: {size: 3}}");
  ensure_path(toy, {"spec", "template"}) = pods_for("1000s");
  cluster.pass(40);
  cluster.create(kToys, std::move(toy));
  cluster.pass(5);
  ASSERT_EQ(names().size(), 3u);
  auto request = cluster.request(api::Verb::kDelete, {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                                 "toys.toys.example.com");
  request.ns.clear();
  cluster.expect_ok(cluster.call(std::move(request)));
  cluster.pass(60);
  EXPECT_THAT(names(), IsEmpty());
}

// Pods that the server refuses: an event tells why, once until the job changes.
TEST_F(OperatorsTest, RefusedPodsAreInformedInAnEventOnTheJob) {
  const auto reported = [&] {
    std::vector<std::string> out;
    for (const Json& event : cluster.list(api::kEvents)) {
      if (string_at(event, {"reason"}) != "FailedCreate") continue;
      EXPECT_EQ(string_at(event, {"type"}), "Warning");
      EXPECT_EQ(string_at(event, {"regarding", "kind"}), "PyTorchJob");
      EXPECT_EQ(string_at(event, {"regarding", "uid"}), string_at(cluster.get(kPyTorchJobs, "p"), {"metadata", "uid"}));
      const auto count = find_path(event, {"series", "count"}) ? int_at(event, {"series", "count"}) : 1;
      out.push_back(std::to_string(count) + " " + std::string(string_at(event, {"note"})));
    }
    return out;
  };
  const auto job = [](const std::string& containers) {
    return yaml("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: p}, spec: {pytorchReplicaSpecs: " +
                ("{Master: {replicas: 1, restartPolicy: Never, template: {spec: {containers: [" + containers) +
                "]}}}}}}");
  };
  cluster.create(kPyTorchJobs, job("{name: pytorch, image: i, envFrom: [{configMapRef: {}}]}"));
  cluster.pass(200);
  EXPECT_GT(wire.sent["create pods"], 5);
  EXPECT_THAT(names(), IsEmpty());
  const std::string note =
      "Error creating: Pod \"p-master-0\" is invalid: spec.containers[0].envFrom[0].configMapRef.name: Required value";
  EXPECT_THAT(reported(), ElementsAre("1 " + note));
  patch(kPyTorchJobs, "p", "{spec: {runPolicy: {cleanPodPolicy: None}}}");
  cluster.pass(500);
  EXPECT_THAT(reported(), ElementsAre("2 " + note)) << "the job changed";
}

TEST_F(OperatorsTest, AConflictIsReportedOnlyWhenItStays) {
  wire.conflicts = 1;
  pytorch("1000s");
  cluster.pass(5);
  EXPECT_EQ(names(), kThree);
  EXPECT_EQ(wire.sent["create events"], 0);
}

}  // namespace
}  // namespace berth::cluster::operators_test
