// Jobs of other kinds than batch/v1 Job on workers: each kind that ships with Berth, what workers lack, own kinds.
#include "controller/multikueue_fixture.h"
#include "controller/sweep_definition.h"
#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::controller::multikueue_kinds_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

inline const api::GroupVersionResource kJobSets{"jobset.x-k8s.io", "v1alpha2", "jobsets"};
inline const api::GroupVersionResource kRayServices{"ray.io", "v1", "rayservices"};
inline const api::GroupVersionResource kSweeps{"sweeps.example.org", "v1", "sweeps"};

constexpr std::string_view kPods =
    "{metadata: {annotations: {berth.dev/run-for: 30s}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
    "resources: {requests: {cpu: '1'}}}]}}";

ControllerOptions shipped_kinds() {
  ControllerOptions options;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
  return options;
}

class MultiKueueKinds : public multikueue_fixture::MultiKueue {
 protected:
  explicit MultiKueueKinds(const ControllerOptions& options = shipped_kinds()) : MultiKueue(options) {}

  void install_everywhere(std::string_view resource) {
    for (const char* side : {"", "east", "west"}) install(side, resource);
    pass(minutes(1));  // the caches look for a kind again after a while
  }
  void job_set(const std::string& name) {
    make_of("", kJobSets,
            "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: " + name +
                ", namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {ttlSecondsAfterFinished: 0, "
                "replicatedJobs: [{name: w, replicas: 2, template: {spec: {template: " +
                std::string(kPods) + "}}}]}}");
  }
};

TEST_F(MultiKueueKinds, AJobSetRunsOnAWorkerAndItsStatusComesBack) {
  install_everywhere("jobsets");
  hold("east", true);
  job_set("a");
  EXPECT_EQ(string_at(get("", kJobSets, "a"), {"spec", "managedBy"}), "kueue.x-k8s.io/multikueue");
  pass(seconds(20));
  EXPECT_EQ(cluster_of("a"), "west") << check_of("a");
  const Json there = get("west", kJobSets, "a");
  EXPECT_TRUE(find_path(there, {"spec", "managedBy"}) == nullptr);
  EXPECT_TRUE(find_path(there, {"spec", "ttlSecondsAfterFinished"}) == nullptr);
  EXPECT_EQ(running_on("west"), 2u);
  EXPECT_EQ(running_on(""), 0u) << "the operator of the manager leaves it alone";
  const Json here = get("", kJobSets, "a");
  EXPECT_FALSE(bool_at(here, {"spec", "suspend"}, true));
  EXPECT_EQ(to_string(*find(here, "status")), to_string(*find(there, "status")));
  EXPECT_EQ(condition(workload("a"), "PodsReady").substr(0, 4), "True");

  pass(minutes(1));
  EXPECT_EQ(condition(get("", kJobSets, "a"), "Completed").substr(0, 4), "True");
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
  EXPECT_TRUE(get("west", kJobSets, "a").is_null());
  EXPECT_TRUE(copy_on("west", "a").is_null());
}

TEST_F(MultiKueueKinds, AWorkerWithoutTheKindIsLeftOut) {
  for (const char* side : {"", "west"}) install(side, "jobsets");
  pass(minutes(1));
  hold("west", true);
  job_set("a");
  job("b");
  pass(seconds(20));
  EXPECT_EQ(cluster_of("b"), "east") << "it is of use for other jobs";
  EXPECT_EQ(activity("east"), "True Active: Connected");
  EXPECT_EQ(cluster_of("a"), "");
  EXPECT_TRUE(copy_on("east", "a").is_null());
  install("east", "jobsets");
  pass(minutes(1));
  EXPECT_EQ(cluster_of("a"), "east") << check_of("a");
}

TEST_F(MultiKueueKinds, AWorkerWithoutARightForTheKindIsLeftOutAndSaysIt) {
  install_everywhere("jobsets");
  wires["east"]->instead = [](const api::RestRequest& request) -> std::optional<api::RestResponse> {
    if (request.resource.resource != "selfsubjectaccessreviews") return std::nullopt;
    const bool sets = string_at(request.body, {"spec", "resourceAttributes", "resource"}) == "jobsets";
    const bool allowed = !sets || string_at(request.body, {"spec", "resourceAttributes", "verb"}) != "create";
    return api::RestResponse{201, JsonObject{{"status", JsonObject{{"allowed", allowed}}}}, {}};
  };
  job_set("a");
  pass(seconds(10));
  EXPECT_EQ(cluster_of("a"), "west") << check_of("a");
  EXPECT_EQ(activity("east"),
            "True Active: Connected, but not for jobs of the kind JobSet: the account of the kubeconfig may not do "
            "there: create jobsets.jobset.x-k8s.io");
}

TEST_F(MultiKueueKinds, JobsAreDeletedAlsoWhenTheirOriginalWentWhileNobodyLooked) {
  install_everywhere("jobsets");
  hold("west", true);
  job_set("a");
  pass(seconds(10));
  ASSERT_EQ(running_on("east"), 2u);
  manager.controller.reset();
  remove("", kJobSets, "a");
  for (const auto& one : list("", api::kWorkloads)) {
    const std::string name(string_at(one, {"metadata", "name"}));
    patch("", api::kWorkloads, "default", name, "{metadata: {finalizers: []}}");
  }
  pass(seconds(5));
  ASSERT_TRUE(list("", api::kWorkloads).empty());
  restart_manager();
  pass(minutes(1));
  EXPECT_TRUE(list("east", kJobSets).empty());
  EXPECT_TRUE(list("east", api::kWorkloads).empty());
  EXPECT_EQ(running_on("east"), 0u);
}

TEST_F(MultiKueueKinds, AnEvictionGivesTheQuotaBackWhateverTheStatusSays) {
  install_everywhere("jobsets");
  hold("west", true);
  job_set("a");
  pass(seconds(10));
  ASSERT_EQ(running_on("east"), 2u);
  wires["east"]->cut();
  pass(minutes(4));
  EXPECT_EQ(cluster_of("a"), "");
  EXPECT_EQ(condition(workload("a"), "QuotaReserved").substr(0, 4), "True") << "it waits for a cluster again";
  hold("west", false);
  pass(seconds(10));
  EXPECT_EQ(cluster_of("a"), "west");
  EXPECT_EQ(running_on("west"), 2u);
}

TEST_F(MultiKueueKinds, AJobThatSomebodyElseRunsIsRejected) {
  install_everywhere("jobsets");
  make_of(
      "", kJobSets,
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: a, namespace: default, labels: "
      "{kueue.x-k8s.io/queue-name: q}}, spec: {managedBy: example.com/mine, replicatedJobs: [{name: w, replicas: 1, "
      "template: {spec: {template: " +
          std::string(kPods) + "}}}]}}");
  pass(seconds(10));
  EXPECT_NE(condition(workload("a"), "Evicted")
                .find("Expecting spec.managedBy to be \"kueue.x-k8s.io/multikueue\" not "
                      "\"example.com/mine\""),
            std::string::npos)
      << condition(workload("a"), "Evicted");
}

// One pod set each, as short as the definition of the kind allows.
struct Sample {
  const char* resource;
  const char* kind;
  const char* group;
  const char* version;
  const char* spec;  // POD stands for a pod template
  bool ends;
};

class EachKind : public MultiKueueKinds, public testing::WithParamInterface<Sample> {};

TEST_P(EachKind, RunsOnAWorkerAndEndsOnBothSides) {
  const Sample& sample = GetParam();
  install_everywhere(sample.resource);
  const api::GroupVersionResource resource{sample.group, sample.version, sample.resource};
  std::string spec = sample.spec;
  for (std::size_t at = 0; (at = spec.find("POD", at)) != std::string::npos;) spec.replace(at, 3, kPods);
  make_of("", resource,
          "{apiVersion: " + std::string(sample.group) + "/" + sample.version + ", kind: " + sample.kind +
              ", metadata: {name: a, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {" + spec +
              "}}");
  pass(seconds(25));
  const std::string where = cluster_of("a");
  ASSERT_FALSE(where.empty()) << check_of("a") << to_string(workload("a"));
  EXPECT_GT(running_on(where), 0u);
  EXPECT_EQ(running_on(""), 0u);
  const Json here = get("", resource, "a"), there = get(where, resource, "a");
  ASSERT_TRUE(find(there, "status") != nullptr);
  EXPECT_EQ(to_string(*find(here, "status")), to_string(*find(there, "status")));
  if (sample.ends) {
    pass(minutes(2));
    EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
  } else {
    remove("", resource, "a");
    pass(minutes(1));
  }
  EXPECT_TRUE(list(where, resource).empty());
  EXPECT_TRUE(list(where, api::kWorkloads).empty());
  EXPECT_EQ(running_on(where), 0u);
}

constexpr const char* kRayCluster = "headGroupSpec: {rayStartParams: {}, template: POD}";
constexpr Sample kSamples[] = {
    {"pytorchjobs", "PyTorchJob", "kubeflow.org", "v1", "pytorchReplicaSpecs: {Master: {replicas: 1, template: POD}}",
     true},
    {"tfjobs", "TFJob", "kubeflow.org", "v1", "tfReplicaSpecs: {Worker: {replicas: 2, template: POD}}", true},
    {"xgboostjobs", "XGBoostJob", "kubeflow.org", "v1", "xgbReplicaSpecs: {Master: {replicas: 1, template: POD}}",
     true},
    {"paddlejobs", "PaddleJob", "kubeflow.org", "v1", "paddleReplicaSpecs: {Master: {replicas: 1, template: POD}}",
     true},
    {"jaxjobs", "JAXJob", "kubeflow.org", "v1", "jaxReplicaSpecs: {Worker: {replicas: 1, template: POD}}", true},
    {"mpijobs", "MPIJob", "kubeflow.org", "v2beta1",
     "mpiReplicaSpecs: {Launcher: {replicas: 1, template: POD}, Worker: {replicas: 1, template: POD}}", true},
    {"appwrappers", "AppWrapper", "workload.codeflare.dev", "v1beta2",
     "components: [{template: {apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {berth.dev/run-for: 30s}}, "
     "spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]",
     true},
    {"rayclusters", "RayCluster", "ray.io", "v1", kRayCluster, false},
    {"rayjobs", "RayJob", "ray.io", "v1",
     "entrypoint: e, submissionMode: HTTPMode, shutdownAfterJobFinishes: true, rayClusterSpec: {headGroupSpec: "
     "{rayStartParams: {}, template: "
     "POD}}",
     true},
    {"rayservices", "RayService", "ray.io", "v1",
     "upgradeStrategy: {type: None}, rayClusterConfig: {headGroupSpec: {rayStartParams: {}, template: POD}}", false},
};
INSTANTIATE_TEST_SUITE_P(Kinds, EachKind, testing::ValuesIn(kSamples),
                         [](const auto& sample) { return std::string(sample.param.kind); });

// The manager deletes the job, when it has seen the end.
TEST_F(MultiKueueKinds, WhatDeletesAJobAtItsEndIsNotThere) {
  const api::GroupVersionResource ray_jobs{"ray.io", "v1", "rayjobs"};
  const api::GroupVersionResource wrappers{"workload.codeflare.dev", "v1beta2", "appwrappers"};
  for (const char* resource : {"rayjobs", "appwrappers"}) install_everywhere(resource);
  hold("west", true);
  make_of("", ray_jobs,
          "{apiVersion: ray.io/v1, kind: RayJob, metadata: {name: a, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: q}}, spec: {entrypoint: e, submissionMode: HTTPMode, shutdownAfterJobFinishes: "
          "true, deletionStrategy: {deletionRules: [{policy: DeleteSelf, condition: {jobStatus: SUCCEEDED}}]}, "
          "rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: " +
              std::string(kPods) + "}}}}");
  make_of("", wrappers,
          "{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, metadata: {name: b, namespace: default, "
          "annotations: {workload.codeflare.dev.appwrapper/successTTLDuration: 1s, team: b}, labels: "
          "{kueue.x-k8s.io/queue-name: q}}, spec: {components: [{template: {apiVersion: v1, kind: Pod, metadata: "
          "{name: p, annotations: {berth.dev/run-for: 5m}}, spec: {restartPolicy: Never, containers: [{name: c, image: "
          "i, resources: {requests: {cpu: "
          "1}}}]}}}]}}");
  pass(seconds(20));
  const Json ray_job = get("east", ray_jobs, "a"), wrapper = get("east", wrappers, "b");
  EXPECT_EQ(string_at(ray_job, {"spec", "entrypoint"}), "e");
  EXPECT_TRUE(find_path(ray_job, {"spec", "deletionStrategy"}) == nullptr);
  EXPECT_FALSE(find_path(get("", ray_jobs, "a"), {"spec", "deletionStrategy"}) == nullptr) << "its user wrote it";
  const auto& annotations = object_at(wrapper, {"metadata", "annotations"});
  EXPECT_TRUE(annotations.contains("team")) << check_of("b") << to_string(workload("b"));
  EXPECT_FALSE(annotations.contains("workload.codeflare.dev.appwrapper/successTTLDuration"));
}

TEST_F(MultiKueueKinds, ATrainJobIsMadeOfTheRuntimeOfItsWorker) {
  const api::GroupVersionResource runtimes{"trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes"};
  const api::GroupVersionResource train_jobs{"trainer.kubeflow.org", "v1alpha1", "trainjobs"};
  for (const char* resource : {"clustertrainingruntimes", "trainingruntimes", "trainjobs"})
    for (const char* side : {"", "east", "west"}) install(side, resource);
  pass(minutes(1));
  hold("west", true);
  for (const char* side : {"", "east", "west"})
    make_of(side, runtimes,
            "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, metadata: {name: two}, spec: "
            "{mlPolicy: {numNodes: 2}, template: {spec: {replicatedJobs: [{name: node, template: {metadata: {labels: "
            "{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: " +
                std::string(kPods) + "}}}]}}}}");
  make_of("", train_jobs,
          "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: a, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: q}}, spec: {runtimeRef: {name: two}}}");
  pass(seconds(20));
  ASSERT_EQ(cluster_of("a"), "east") << check_of("a");
  EXPECT_EQ(running_on("east"), 2u);
  EXPECT_TRUE(find_path(get("east", train_jobs, "a"), {"spec", "runtimePatches"}) == nullptr ||
              to_string(get("east", train_jobs, "a")).find("pool") == std::string::npos)
      << "not the manager's flavor";
  pass(minutes(2));
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 14), "True Succeeded");
  EXPECT_TRUE(list("east", train_jobs).empty());
}

// A kind that only its description makes known. Its operator has no name.
ControllerOptions sweeps(bool gate) {
  ControllerOptions options;
  options.kinds.push_back({jobs::kinds::read_job_kind(R"(apiVersion: berth.dev/v1alpha1
kind: JobKind
spec:
  group: sweeps.example.org
  version: v1
  kind: Sweep
  suspend: spec.hold
  podSets: [{name: main, template: spec.pod}]
  finished: self.status.done
  active: self.?status.?running.orValue(0) > 0
  ready: self.?status.?running.orValue(0) > 0
  multikueue: {managedBy: spec.runBy, drop: [spec.here]}
)",
                                                      "sweep.yaml")
                               .value(),
                           true});
  options.jobs.multikueue_own_kinds = gate;
  return options;
}

class OwnKind : public MultiKueueKinds {
 protected:
  explicit OwnKind(bool gate = true) : MultiKueueKinds(sweeps(gate)) {
    for (const char* side : {"", "east", "west"}) define(server_of(side), parse_yaml(kSweepDefinition).value().front());
    pass(minutes(1));
    hold("west", true);
    make_of("", kSweeps,
            "{apiVersion: sweeps.example.org/v1, kind: Sweep, metadata: {name: a, namespace: default, labels: "
            "{kueue.x-k8s.io/queue-name: q}}, spec: {here: 1, there: 2, pod: " +
                std::string(kPods) + "}}");
    pass(seconds(10));
  }
  void status_on_east(std::string_view status) {
    EXPECT_TRUE(patch("east", kSweeps, "default", "a", "{status: " + std::string(status) + "}", "status").ok());
    pass(seconds(5));
  }
  std::string status_here() {
    const Json job = get("", kSweeps, "a");
    const Json* status = find(job, "status");
    return status == nullptr ? "" : to_string(*status);
  }
};

TEST_F(OwnKind, RunsOnAWorkerAsItsDescriptionSays) {
  ASSERT_EQ(cluster_of("a"), "east") << check_of("a");
  EXPECT_EQ(string_at(get("", kSweeps, "a"), {"spec", "runBy"}), "kueue.x-k8s.io/multikueue");
  const Json there = get("east", kSweeps, "a");
  EXPECT_TRUE(find_path(there, {"spec", "here"}) == nullptr);
  EXPECT_TRUE(find_path(there, {"spec", "runBy"}) == nullptr);
  EXPECT_EQ(int_at(there, {"spec", "there"}), 2);
  EXPECT_FALSE(bool_at(there, {"spec", "hold"}, true)) << "the worker started it";

  status_on_east("{done: false, running: 1, more: {a: [1], b: null}}");
  EXPECT_EQ(status_here(), R"({"done":false,"running":1,"more":{"a":[1]}})");
  status_on_east("{done: maybe}");
  EXPECT_EQ(status_here(), R"({"done":false,"running":1,"more":{"a":[1]}})") << "the description cannot read it";
  status_on_east("{done: false, more: " + std::string(300 << 10, 'x') + "}");
  EXPECT_EQ(status_here(), R"({"done":false,"running":1,"more":{"a":[1]}})") << "it is too long";
  status_on_east("{done: true, running: 0, more: null}");
  EXPECT_EQ(condition(workload("a"), "Finished").substr(0, 4), "True");
  EXPECT_EQ(status_here(), R"({"done":true,"running":0})");
  EXPECT_TRUE(get("east", kSweeps, "a").is_null());
}

class OwnKindWithoutTheGate : public OwnKind {
 protected:
  OwnKindWithoutTheGate() : OwnKind(false) {}
};

TEST_F(OwnKindWithoutTheGate, IsRejected) {
  EXPECT_NE(condition(workload("a"), "Evicted")
                .find("No multikueue adapter found for owner kind \"sweeps.example.org/v1, Kind=Sweep\""),
            std::string::npos)
      << condition(workload("a"), "Evicted");
}

TEST_F(MultiKueueKinds, TheConfigurationOfARayServiceFollows) {
  install_everywhere("rayservices");
  hold("west", true);
  make_of("", kRayServices,
          "{apiVersion: ray.io/v1, kind: RayService, metadata: {name: a, namespace: default, labels: "
          "{kueue.x-k8s.io/queue-name: q}}, spec: {serveConfigV2: one, upgradeStrategy: {type: None}, "
          "rayClusterConfig: {headGroupSpec: "
          "{rayStartParams: {}, template: " +
              std::string(kPods) + "}}}}");
  pass(seconds(20));
  ASSERT_EQ(string_at(get("east", kRayServices, "a"), {"spec", "serveConfigV2"}), "one");
  EXPECT_TRUE(patch("", kRayServices, "default", "a", "{spec: {serveConfigV2: two}}").ok());
  pass(seconds(10));
  EXPECT_EQ(string_at(get("east", kRayServices, "a"), {"spec", "serveConfigV2"}), "two");
  EXPECT_EQ(cluster_of("a"), "east");
}

}  // namespace
}  // namespace berth::controller::multikueue_kinds_test
