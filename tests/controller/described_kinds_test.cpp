// Jobs of described kinds on an API server with webhooks: their workloads, what happens to jobs below them, and kinds
// that come late. The test plays the operators.
#include <gmock/gmock.h>

#include "controller/kinds_fixture.h"
#include "embedded/apiserver/schema/structural.h"
#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::controller::described_kinds_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DescribedKindsTest : public KindsTest {};

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
  make(kPyTorchJobs, "PyTorchJob", "default",
       "{metadata: {name: b, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {pytorchReplicaSpecs: {Master: {replicas: "
       "1, template: {spec: {containers: []}}}}}}");
  pass();
  EXPECT_THAT(workloads(), IsEmpty());
  for (const std::string_view name : {"a", "b"})
    EXPECT_THAT(events(name), Contains(AllOf(HasSubstr("ErrWorkloadCompose: "), HasSubstr("containers"))));
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

class SwitchedOffKinds : public KindsTest {
 protected:
  static ControllerOptions none() {
    ControllerOptions options;
    options.manage_jobs = false;
    for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, false});
    return options;
  }
  SwitchedOffKinds() : KindsTest(none()) {}
};

TEST_F(SwitchedOffKinds, RunWithoutQuotaAndTheUserIsReported) {
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
