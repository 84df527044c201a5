// Jobs of described kinds on an API server with webhooks: their workloads, what happens to jobs below them, and kinds
// that come late. The test plays the operators.
#include <gmock/gmock.h>

#include <algorithm>

#include "api/resources.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/schema/structural.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller::described_kinds_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const api::GroupVersionResource kJobSets{"jobset.x-k8s.io", "v1alpha2", "jobsets"};
const api::GroupVersionResource kPyTorchJobs{"kubeflow.org", "v1", "pytorchjobs"};
const api::GroupVersionResource kThings{"things.example.org", "v1", "things"};

ControllerOptions all_kinds() {
  ControllerOptions options;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
  options.external_kinds = {{kThings, "Thing"}};
  options.compare_kinds = true;
  return options;
}

class DescribedKindsTest : public apiserver::ServerTest {
 protected:
  explicit DescribedKindsTest(const ControllerOptions& options = all_kinds())
      : ServerTest(
            {.seed = 7, .admission = apiserver::kueue_webhooks(admission_policy(options)), .controllers = true}) {
    for (const auto& file : embedded::crds()) install(file.content);
    make({"kueue.x-k8s.io", "v1beta2", "resourceflavors"}, "ResourceFlavor", "",
         "{metadata: {name: f}, spec: {nodeLabels: {tier: a}}}");
    make({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "ClusterQueue", "",
         "{metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "
         "[{name: f, "
         "resources: [{name: cpu, nominalQuota: 4}]}]}]}}");
    make({"kueue.x-k8s.io", "v1beta2", "localqueues"}, "LocalQueue", "default",
         "{metadata: {name: q}, spec: {clusterQueue: cq}}");
    controller.emplace(*server, executor, options);
    controller->start();
    controller->lead();
    pass();
  }

  void install(std::string_view yaml) {
    const auto definitions = parse_yaml(yaml).value();
    for (const Json& definition : definitions) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = definition;
      const auto made = call(std::move(crd));
      EXPECT_TRUE(made.ok()) << to_string(made.body);
    }
  }
  void install_kind(std::string_view resource) {
    for (const auto& file : embedded::external_crds()) {
      if (file.name.find("/" + std::string(resource) + ".yaml") != std::string_view::npos) return install(file.content);
    }
    ADD_FAILURE() << "no definition of " << resource;
  }
  void pass(int seconds = 5) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }

  api::RestResponse create(const api::GroupVersionResource& resource, std::string_view kind, std::string_view ns,
                           std::string_view yaml) {
    auto r = request(api::Verb::kCreate, resource, std::string(ns));
    r.body = parse_yaml(yaml).value().front();
    r.body.as_object()["apiVersion"] =
        resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
    r.body.as_object()["kind"] = kind;
    return call(std::move(r));
  }
  Json make(const api::GroupVersionResource& resource, std::string_view kind, std::string_view ns,
            std::string_view yaml) {
    const auto made = create(resource, kind, ns, yaml);
    EXPECT_TRUE(made.ok()) << to_string(made.body);
    return made.body;
  }
  Json job_set(const std::string& name, int replicas, const std::string& labels = "kueue.x-k8s.io/queue-name: q") {
    return make(kJobSets, "JobSet", "default",
                "{metadata: {name: " + name + ", labels: {" + labels +
                    "}}, spec: {replicatedJobs: [{name: w, replicas: " + std::to_string(replicas) +
                    ", template: {spec: {" + std::string(kTemplate) + "}}}]}}");
  }
  Json child_of(const Json& owner, const std::string& name, const std::string& labels = "") {
    return make(api::kJobs, "Job", "default",
                "{metadata: {name: " + name + ", labels: {" + labels +
                    "}, ownerReferences: [{apiVersion: " + std::string(string_at(owner, {"apiVersion"})) +
                    ", kind: " + std::string(string_at(owner, {"kind"})) +
                    ", name: " + std::string(string_at(owner, {"metadata", "name"})) +
                    ", uid: " + std::string(string_at(owner, {"metadata", "uid"})) + ", controller: true}]}, spec: {" +
                    std::string(kTemplate) + "}}");
  }
  Json seen(const api::GroupVersionResource& resource, const std::string& name) {
    return get(resource, "default", name).body;
  }
  bool suspended(const api::GroupVersionResource& resource, const std::string& name) {
    return bool_at(seen(resource, name), {"spec", "suspend"});
  }
  std::vector<Json> workloads() {
    std::vector<Json> all;
    const Json found = list(api::kWorkloads, "default").body;
    for (const auto& one : array_at(found, {"items"})) all.push_back(one);
    return all;
  }
  std::vector<std::string> events(std::string_view name) {
    std::vector<std::string> out;
    const Json found = list(api::kEvents, "default").body;
    for (const auto& one : array_at(found, {"items"})) {
      if (string_at(one, {"regarding", "name"}) == name)
        out.push_back(std::string(string_at(one, {"reason"})) + ": " + std::string(string_at(one, {"note"})));
    }
    return out;
  }
  static std::string condition(const Json& object, std::string_view type) {
    for (const auto& one : array_at(object, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type)
        return std::string(string_at(one, {"status"})) + " " + std::string(string_at(one, {"reason"}));
    return {};
  }

  static constexpr std::string_view kTemplate =
      "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}";
  std::optional<Controller> controller;
};

TEST(ShippedDescriptions, FitTheDefinitionsOfTheirKinds) {
  std::size_t checked = 0;
  std::vector<apiserver::SchemaPtr> schemas;
  for (const auto& file : embedded::external_crds()) {
    const auto definitions = parse_yaml(file.content).value();
    for (const Json& definition : definitions) {
      for (const auto& description : embedded::job_kinds()) {
        const auto kind = jobs::kinds::read_job_kind(description.content, description.name);
        ASSERT_TRUE(kind) << kind.error().message;
        const auto& resource = (*kind)->resource;
        if (string_at(definition, {"metadata", "name"}) != resource.resource + "." + resource.group) continue;
        EXPECT_EQ(string_at(definition, {"spec", "names", "kind"}), (*kind)->kind);
        for (const Json& version : array_at(definition, {"spec", "versions"})) {
          if (string_at(version, {"name"}) != resource.version) continue;
          api::FieldErrors errors;
          schemas.push_back(apiserver::compile_schema(version.at("schema").at("openAPIV3Schema"), "", errors));
          EXPECT_EQ(api::to_string(errors), "");
          const auto typed = jobs::kinds::read_job_kind(description.content, description.name,
                                                        cel::type_of_schema(*schemas.back(), true));
          EXPECT_TRUE(typed) << typed.error().message;
          ++checked;
        }
      }
    }
  }
  EXPECT_EQ(checked, embedded::job_kinds().size());
}

TEST_F(DescribedKindsTest, AKindIsPickedUpWhenItAppears) {
  install_kind("jobsets");
  pass(60);
  EXPECT_TRUE(bool_at(job_set("a", 2), {"spec", "suspend"}));
  pass();
  ASSERT_THAT(workloads(), SizeIs(1));
  EXPECT_EQ(condition(workloads()[0], "Admitted"), "True Admitted");
  EXPECT_FALSE(suspended(kJobSets, "a"));
  const Json job_set_a = seen(kJobSets, "a");
  const Json& started = array_at(job_set_a, {"spec", "replicatedJobs"})[0];
  EXPECT_EQ(string_at(started, {"template", "spec", "template", "spec", "nodeSelector", "tier"}), "a");
}

TEST_F(DescribedKindsTest, AJobThatIsTooLargeWaitsAndFailsNobodyElse) {
  install_kind("jobsets");
  pass(60);
  job_set("large", 9);
  job_set("small", 1);
  pass();
  EXPECT_TRUE(suspended(kJobSets, "large"));
  EXPECT_FALSE(suspended(kJobSets, "small"));
}

TEST_F(DescribedKindsTest, AnEvictedJobIsRestoredAndGivesItsQuotaBack) {
  install_kind("jobsets");
  pass(60);
  const Json original = job_set("a", 2);
  pass();
  ASSERT_FALSE(suspended(kJobSets, "a"));
  const std::string workload(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":false}})").ok());
  pass();
  EXPECT_EQ(canonical_json(seen(kJobSets, "a").at("spec")), canonical_json(original.at("spec")));
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
}

TEST_F(DescribedKindsTest, ADeletedJobLeavesNoWorkload) {
  install_kind("jobsets");
  pass(60);
  job_set("a", 2);
  pass();
  remove(kJobSets, "default", "a");
  pass(20);
  EXPECT_THAT(workloads(), IsEmpty());
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
}

TEST_F(DescribedKindsTest, TheJobsOfAManagedJobSetAreNotQueuedThemselves) {
  install_kind("jobsets");
  pass(60);
  const Json owner = job_set("a", 2);
  pass();
  const Json child = child_of(owner, "a-w-0", "kueue.x-k8s.io/queue-name: q");
  EXPECT_FALSE(bool_at(child, {"spec", "suspend"}));
  pass();
  EXPECT_THAT(workloads(), SizeIs(1));
  EXPECT_FALSE(suspended(api::kJobs, "a-w-0"));
}

TEST_F(DescribedKindsTest, TheJobsOfAWaitingJobSetAreSuspended) {
  install_kind("jobsets");
  pass(60);
  const Json owner = job_set("a", 9);
  pass();
  child_of(owner, "a-w-0");
  pass();
  EXPECT_TRUE(suspended(api::kJobs, "a-w-0"));
  EXPECT_THAT(events("a-w-0"), Contains(HasSubstr("Suspended: The job that owns this one is not admitted")));
  EXPECT_THAT(workloads(), SizeIs(1));
  // Nobody else starts it again.
  EXPECT_TRUE(patch({"kueue.x-k8s.io", "v1beta2", "clusterqueues"}, "", "cq",
                    R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[
                       {"name":"cpu","nominalQuota":"20"}]}]}]}})")
                  .ok());
  pass();
  EXPECT_FALSE(suspended(kJobSets, "a"));
  EXPECT_FALSE(suspended(api::kJobs, "a-w-0"));
  EXPECT_EQ(find_path(seen(api::kJobs, "a-w-0"), {"metadata", "annotations"}), nullptr);
}

TEST_F(DescribedKindsTest, AJobThatItsOwnerSuspendedIsNotStarted) {
  install_kind("jobsets");
  pass(60);
  const Json owner = job_set("a", 2);
  pass();
  child_of(owner, "a-w-0");
  EXPECT_TRUE(patch(api::kJobs, "default", "a-w-0", R"({"spec":{"suspend":true}})").ok());
  pass();
  EXPECT_TRUE(suspended(api::kJobs, "a-w-0"));
}

TEST_F(DescribedKindsTest, TheJobsOfAFreeJobSetAreQueuedWhenTheyNameAQueue) {
  install_kind("jobsets");
  pass(60);
  const Json owner = job_set("free", 2, "");
  EXPECT_FALSE(bool_at(owner, {"spec", "suspend"}));
  EXPECT_TRUE(bool_at(child_of(owner, "free-w-0", "kueue.x-k8s.io/queue-name: q"), {"spec", "suspend"}));
  EXPECT_FALSE(bool_at(child_of(owner, "free-w-1"), {"spec", "suspend"}));
}

TEST_F(DescribedKindsTest, AnOwnerOfAnotherUidIsNoOwner) {
  install_kind("jobsets");
  pass(60);
  Json owner = job_set("a", 2);
  ensure_path(owner, {"metadata", "uid"}) = "another";
  EXPECT_TRUE(bool_at(child_of(owner, "orphan", "kueue.x-k8s.io/queue-name: q"), {"spec", "suspend"}));
}

TEST_F(DescribedKindsTest, ObjectsOfExternalKindsBringTheQuotaOfTheirJobs) {
  install(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.things.example.org}
spec:
  group: things.example.org
  scope: Namespaced
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
  pass(60);
  const Json queued =
      make(kThings, "Thing", "default", "{metadata: {name: t, labels: {kueue.x-k8s.io/queue-name: q}}}");
  const Json free = make(kThings, "Thing", "default", "{metadata: {name: u}}");
  pass();
  EXPECT_FALSE(bool_at(child_of(queued, "of-t", "kueue.x-k8s.io/queue-name: q"), {"spec", "suspend"}));
  EXPECT_TRUE(bool_at(child_of(free, "of-u", "kueue.x-k8s.io/queue-name: q"), {"spec", "suspend"}));
  pass();
  EXPECT_FALSE(suspended(api::kJobs, "of-t"));
  EXPECT_THAT(workloads(), SizeIs(1));
}

TEST_F(DescribedKindsTest, AJobWithoutATemplateIsRefusedAndOthersGoOn) {
  install_kind("pytorchjobs");
  pass(60);
  const auto refused =
      create(kPyTorchJobs, "PyTorchJob", "default",
             "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {pytorchReplicaSpecs: {}}}");
  EXPECT_EQ(refused.code, 403) << to_string(refused.body);
  EXPECT_THAT(std::string(string_at(refused.body, {"message"})), HasSubstr("at least one pod template"));
  make(kPyTorchJobs, "PyTorchJob", "default",
       "{metadata: {name: b, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {pytorchReplicaSpecs: {Master: {" +
           std::string(kTemplate) + "}}}}");
  pass();
  EXPECT_THAT(workloads(), SizeIs(1));
}

// The definition of the kind allows pods without containers, that of workloads does not.
TEST_F(DescribedKindsTest, AJobThatNoWorkloadCanBeMadeOfSaysSo) {
  install_kind("pytorchjobs");
  pass(60);
  make(kPyTorchJobs, "PyTorchJob", "default",
       "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {pytorchReplicaSpecs: {Master: {replicas: "
       "1, template: {spec: {}}}}}}");
  pass();
  EXPECT_THAT(workloads(), IsEmpty());
  EXPECT_THAT(events("a"), Contains(AllOf(HasSubstr("ErrWorkloadCompose: "), HasSubstr("containers"))));
}

TEST_F(DescribedKindsTest, AFinishedJobFinishesItsWorkload) {
  install_kind("jobsets");
  pass(60);
  job_set("a", 1);
  pass();
  auto r = request(api::Verb::kPatch, kJobSets, "default", "a");
  r.subresource = "status";
  r.body = parse_yaml(
               "{status: {conditions: [{type: Failed, status: 'True', reason: r, message: why, "
               "lastTransitionTime: '2026-01-01T00:00:00Z'}]}}")
               .value()
               .front();
  const auto done = call(std::move(r));
  EXPECT_TRUE(done.ok()) << to_string(done.body);
  pass();
  EXPECT_EQ(condition(workloads()[0], "Finished"), "True Failed");
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
}

TEST_F(DescribedKindsTest, WhenTheKindIsUninstalledItsWorkloadsEnd) {
  install_kind("jobsets");
  pass(60);
  job_set("a", 2);
  pass();
  EXPECT_TRUE(remove(apiserver::kCrds, "", "jobsets.jobset.x-k8s.io").ok());
  pass(180);
  EXPECT_THAT(workloads(), IsEmpty()) << "the garbage collector takes them with their owners";
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
  install_kind("jobsets");
  pass(60);
  job_set("a", 2);
  pass();
  EXPECT_FALSE(suspended(kJobSets, "a"));
}

// Its jobs may go on in the other version: they keep their quota, and nothing stops them when the old one is back.
TEST_F(DescribedKindsTest, WhenAnotherVersionAloneIsServedJobsKeepWhatTheyHave) {
  install_kind("jobsets");
  pass(60);
  job_set("a", 2);
  pass();
  ASSERT_FALSE(suspended(kJobSets, "a"));
  const auto crd = get(apiserver::kCrds, "", "jobsets.jobset.x-k8s.io").body;
  const auto serve = [&](bool old) {
    Json versions = crd.at("spec").at("versions");
    Json other = versions.as_array()[0];
    ensure_path(other, {"name"}) = "v9";
    ensure_path(other, {"storage"}) = false;
    ensure_path(versions.as_array()[0], {"served"}) = old;
    versions.as_array().push_back(other);
    const Json body = JsonObject{{"spec", JsonObject{{"versions", versions}}}};
    EXPECT_TRUE(patch(apiserver::kCrds, "", "jobsets.jobset.x-k8s.io", to_string(body)).ok());
  };
  const std::string before(string_at(workloads()[0], {"metadata", "resourceVersion"}));
  serve(false);
  pass(900);
  ASSERT_THAT(workloads(), SizeIs(1));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1));
  serve(true);
  pass(120);
  EXPECT_FALSE(suspended(kJobSets, "a"));
  EXPECT_EQ(string_at(workloads()[0], {"metadata", "resourceVersion"}), before);
  EXPECT_TRUE(remove(kJobSets, "default", "a").ok());
  pass();
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
}

// A kind that only its description makes known.
class CustomKind : public DescribedKindsTest {
 protected:
  static constexpr std::string_view kDescription = R"(apiVersion: berth.dev/v1alpha1
kind: JobKind
spec:
  group: sweeps.example.org
  version: v1
  kind: Sweep
  suspend: spec.hold
  podSets:
    - name: tuner
      item: spec.tuner
      template: pod
    - items: spec.trials
      nameFrom: item.id
      template: pod
      count: item.?copies.orValue(1)
      minCount: item.?least.orValue(0)
      countField: copies
      podIndexLabel: sweeps.example.org/index
  finished: self.?status.?phase.orValue('') in ['Done', 'Broken']
  succeeded: self.status.phase == 'Done'
  message: self.status.?why.orValue('')
  active: self.?status.?running.orValue(0) > 0
  ready: self.?status.?phase.orValue('') == 'Up'
  validations:
    - rule: self.spec.trials.size() <= 3
      message: "'has ' + string(self.spec.trials.size()) + ' trials, at most 3 are allowed'"
      field: spec.trials
)";
  static constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sweeps.sweeps.example.org}
spec:
  group: sweeps.example.org
  scope: Namespaced
  names: {kind: Sweep, listKind: SweepList, plural: sweeps, singular: sweep}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";
  inline static const api::GroupVersionResource kSweeps{"sweeps.example.org", "v1", "sweeps"};

  static ControllerOptions sweeps() {
    ControllerOptions options;
    const auto kind = jobs::kinds::read_job_kind(kDescription, "sweep.yaml");
    EXPECT_TRUE(kind) << kind.error().message;
    options.kinds.push_back({*kind, true});
    options.compare_kinds = true;
    return options;
  }
  CustomKind() : DescribedKindsTest(sweeps()) {
    install(kDefinition);
    pass(60);
  }
  static std::string pod() { return std::string(kTemplate).replace(0, 8, "pod"); }
  static std::string sweep(const std::string& name, int copies, const std::string& more = "") {
    return "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q}}, spec: {tuner: {" + pod() +
           "}, trials: [{id: t, copies: " + std::to_string(copies) + more + ", " + pod() + "}]}}";
  }
  bool held(const std::string& name) { return bool_at(seen(kSweeps, name), {"spec", "hold"}); }
  void status(const std::string& name, const std::string& yaml) {
    auto r = request(api::Verb::kPatch, kSweeps, "default", name);
    r.subresource = "status";
    r.body = JsonObject{{"status", parse_yaml(yaml).value().front()}};
    const auto done = call(std::move(r));
    EXPECT_TRUE(done.ok()) << to_string(done.body);
    pass();
  }
};

TEST_F(CustomKind, IsCreatedSuspendedAdmittedEvictedRestoredAndFinished) {
  const Json original = make(kSweeps, "Sweep", "default", sweep("a", 2));
  EXPECT_TRUE(bool_at(original, {"spec", "hold"}));
  pass();
  EXPECT_FALSE(held("a"));
  Json a = seen(kSweeps, "a");
  EXPECT_EQ(string_at(a, {"spec", "tuner", "pod", "spec", "nodeSelector", "tier"}), "a");
  ASSERT_THAT(workloads(), SizeIs(1));
  const std::string workload(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_EQ(array_at(workloads()[0], {"spec", "podSets"}).size(), 2u);
  status("a", "{phase: Up, running: 3}");
  EXPECT_EQ(condition(workloads()[0], "PodsReady"), "True Started");

  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":false}})").ok());
  pass();
  EXPECT_EQ(canonical_json(seen(kSweeps, "a").at("spec")), canonical_json(original.at("spec")));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1)) << "its pods still run";
  status("a", "{phase: Held, running: 0}");
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());

  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":true}})").ok());
  pass(120);
  EXPECT_FALSE(held("a"));
  status("a", "{phase: Broken, why: no trial converged, running: 0}");
  EXPECT_EQ(condition(workloads()[0], "Finished"), "True Failed");
}

// What Berth would write is a field that the kind does not have: the server drops it.
TEST_F(CustomKind, IsLeftAloneWhileTheDescriptionDoesNotFit) {
  const auto install_with = [this](const std::string& hold) {
    const std::string open = R"("x-kubernetes-preserve-unknown-fields":true)";
    const auto done = patch(apiserver::kCrds, "", "sweeps.sweeps.example.org",
                            R"({"spec":{"versions":[{"name":"v1","served":true,"storage":true,
        "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
        "status":{"type":"object",)" +
                                open + R"(},"spec":{"type":"object","properties":{)" + hold +
                                R"("tuner":{"type":"object",)" + open + R"(},"trials":{"type":"array","items":{
        "type":"object",)" + open +
                                "}}}}}}}}]}}");
    EXPECT_TRUE(done.ok()) << to_string(done.body);
  };
  install_with("");
  pass(400);
  make(kSweeps, "Sweep", "default", sweep("a", 1));
  pass(60);
  EXPECT_THAT(workloads(), IsEmpty());
  install_with(R"("hold":{"type":"boolean"},)");
  pass(400);
  EXPECT_THAT(workloads(), SizeIs(1));
  EXPECT_EQ(condition(workloads()[0], "Admitted"), "True Admitted");
}

TEST_F(CustomKind, MayBeAdmittedInPart) {
  make(kSweeps, "Sweep", "default", sweep("a", 9, ", least: 2"));
  pass();
  EXPECT_FALSE(held("a"));
  const Json a = seen(kSweeps, "a");
  EXPECT_EQ(int_at(array_at(a, {"spec", "trials"})[0], {"copies"}), 3) << "of four CPUs, the tuner takes one";
  const std::string workload(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":false}})").ok());
  pass();
  const Json restored = seen(kSweeps, "a");
  EXPECT_EQ(int_at(array_at(restored, {"spec", "trials"})[0], {"copies"}), 9);
}

TEST_F(CustomKind, ItsValidationsHold) {
  std::string trials;
  for (const char* id : {"a", "b", "c", "d"}) trials += std::string("{id: ") + id + ", " + pod() + "}, ";
  const auto refused =
      create(kSweeps, "Sweep", "default",
             "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {trials: [" + trials + "]}}");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(
      string_at(refused.body, {"message"}),
      "admission webhook \"vsweep.kb.io\" denied the request: spec.trials: Invalid value: has 4 trials, at most 3 are "
      "allowed");
}

TEST_F(CustomKind, AStatusThatItsExpressionsCannotReadIsToldOnTheObjectAlone) {
  make(kSweeps, "Sweep", "default", sweep("a", 1));
  make(kSweeps, "Sweep", "default", sweep("b", 1));
  pass();
  status("a", "{running: many}");
  EXPECT_THAT(events("a"), Contains(HasSubstr("UnreadableStatus: the expression")));
  status("b", "{phase: Done}");
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1));
}

// Lists of JobSets are not answered for a while.
class SlowClient final : public api::RestClient {
 public:
  SlowClient(api::RestClient& server, Executor& executor) : server_(server), executor_(executor) {
    streamed_lists_not_offered();
  }
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb != api::Verb::kList || request.resource != kJobSets || !slow)
      return server_.call(std::move(request), std::move(done));
    executor_.after(std::chrono::seconds(5), [done = std::move(done)] {
      api::RestResponse unavailable;
      unavailable.code = 503;
      done(unavailable);
    });
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }
  bool slow = true;

 private:
  api::RestClient& server_;
  Executor& executor_;
};

TEST_F(DescribedKindsTest, ARestartedControllerDecidesWhenItKnowsWhoOwnsWhat) {
  install_kind("jobsets");
  pass(60);
  const Json owner = job_set("a", 2);
  pass();
  child_of(owner, "a-w-0", "kueue.x-k8s.io/queue-name: q");
  pass();
  controller.reset();
  SlowClient client(*server, executor);
  controller.emplace(client, executor, all_kinds());
  controller->start();
  controller->lead();
  pass(20);
  EXPECT_FALSE(controller->leading());
  EXPECT_THAT(controller->missing(), Contains("jobsets"));
  client.slow = false;
  pass(60);
  EXPECT_TRUE(controller->leading());
  EXPECT_FALSE(suspended(api::kJobs, "a-w-0"));
  EXPECT_THAT(workloads(), SizeIs(1));
  controller.reset();
}

class SwitchedOffKinds : public DescribedKindsTest {
 protected:
  static ControllerOptions none() {
    ControllerOptions options;
    options.manage_jobs = false;
    for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, false});
    return options;
  }
  SwitchedOffKinds() : DescribedKindsTest(none()) {}
};

TEST_F(SwitchedOffKinds, RunWithoutQuotaAndTheUserIsTold) {
  install_kind("jobsets");
  const auto made =
      create(kJobSets, "JobSet", "default",
             "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {replicatedJobs: [{name: w, "
             "template: {spec: {" +
                 std::string(kTemplate) + "}}}]}}");
  EXPECT_TRUE(made.ok());
  EXPECT_THAT(made.warnings, Contains(HasSubstr("integrations.frameworks does not list \"jobset.x-k8s.io/jobset\"")));
  const auto job =
      create(api::kJobs, "Job", "default",
             "{metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {" + std::string(kTemplate) + "}}");
  EXPECT_TRUE(job.ok());
  EXPECT_FALSE(bool_at(job.body, {"spec", "suspend"}));
  EXPECT_THAT(job.warnings, Contains(HasSubstr("does not list \"batch/job\"")));
  pass(60);
  EXPECT_THAT(workloads(), IsEmpty());
}

}  // namespace
}  // namespace berth::controller::described_kinds_test
