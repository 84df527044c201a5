// Admission checks that create ProvisioningRequests for the cluster autoscaler, on a whole cluster: what is created,
// reported and deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "api/status.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/simulate/provisioning_fixture.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::provisioning_test {
namespace {

using namespace provisioning_tests;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Provisioning, AWorkloadWithQuotaGetsARequestThatOwnsItsTemplates) {
  apply(kQueue);
  apply(kJob);
  EXPECT_EQ(activity(), "Active/True: The admission check is active");
  const std::string name = workload_name() + "-chk-1";
  ASSERT_THAT(requests(), ElementsAre(name));
  const Json request = list(kRequestVersion, "ProvisioningRequest")[0];
  EXPECT_EQ(canonical_json(*find_path(request, {"spec"})),
            R"({"parameters":{"extra":"x","p":"1"},"podSets":[{"count":3,"podTemplateRef":{"name":"ppt-)" + name +
                R"(-main"}}],"provisioningClassName":"manual.example.com"})");
  EXPECT_EQ(string_at(array_at(request, {"metadata", "ownerReferences"})[0], {"name"}), workload_name());
  ASSERT_THAT(templates(), ElementsAre("ppt-" + name + "-main"));
  const Json made = list("v1", "PodTemplate")[0];
  EXPECT_EQ(to_string(*find_path(made, {"template", "spec", "nodeSelector"})), R"({"pool":"f"})");
  EXPECT_EQ(to_string(*find_path(made, {"template", "spec", "tolerations"})), R"([{"key":"t","operator":"Exists"}])");
  const auto& owners = array_at(made, {"metadata", "ownerReferences"});
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(string_at(owners[0], {"kind"}), "ProvisioningRequest");
  EXPECT_EQ(string_at(owners[0], {"uid"}), string_at(request, {"metadata", "uid"}));
  EXPECT_THAT(events("ProvisioningRequestCreated"), ElementsAre("Created ProvisioningRequest: \"" + name + "\""));
}

TEST_F(Provisioning, NothingIsMadeTwiceOrWithoutNeed) {
  apply(kQueue);
  apply(kJob);
  world->run_for(minutes(10));
  const auto& counts = world->controller().request_counts();
  EXPECT_EQ(counts.at("create provisioningrequests"), 1u);
  EXPECT_EQ(counts.at("create podtemplates"), 1u);
  EXPECT_EQ(counts.at("patch podtemplates"), 1u);
  // A second one when the first conflicts with the write of the finalizer.
  EXPECT_LE(counts.at("patch admissionchecks/status"), 2u);
  EXPECT_EQ(counts.count("delete provisioningrequests"), 0u);
}

TEST_F(Provisioning, TheRequestGoesWithTheQuota) {
  apply(kQueue);
  apply(kJob);
  ASSERT_EQ(requests().size(), 1u);
  patch("kueue.x-k8s.io/v1beta2", "Workload", workload_name(), "", "{spec: {active: false}}");
  EXPECT_FALSE(is(workload(), "QuotaReserved"));
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_THAT(templates(), IsEmpty());
  // The request comes back with the quota. The old PodTemplate of the same name is gone by then.
  patch("kueue.x-k8s.io/v1beta2", "Workload", workload_name(), "", "{spec: {active: true}}");
  EXPECT_THAT(requests(), ElementsAre(workload_name() + "-chk-1"));
  EXPECT_THAT(templates(), ElementsAre("ppt-" + workload_name() + "-chk-1-main"));
}

TEST_F(Provisioning, TheRequestGoesWithTheJob) {
  apply(kQueue);
  apply(kJob);
  ASSERT_EQ(requests().size(), 1u);
  auto request = world->request_for("batch/v1", "Job", "default", "j").value();
  request.verb = api::Verb::kDelete;
  request.body = JsonObject{{"propagationPolicy", "Background"}};
  ASSERT_TRUE(world->call(std::move(request)).ok());
  world->run_for(seconds(10));
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_THAT(templates(), IsEmpty());
}

TEST_F(Provisioning, AChangedConfigurationReplacesTheRequest) {
  apply(kQueue);
  apply(kJob);
  patch("kueue.x-k8s.io/v1beta2", "ProvisioningRequestConfig", "conf", "",
        "{spec: {provisioningClassName: other.example.com}}");
  world->run_for(seconds(5));
  ASSERT_THAT(requests(), ElementsAre(workload_name() + "-chk-1"));
  EXPECT_EQ(string_at(list(kRequestVersion, "ProvisioningRequest")[0], {"spec", "provisioningClassName"}),
            "other.example.com");
  const Json made = list("v1", "PodTemplate").at(0);
  EXPECT_EQ(string_at(array_at(made, {"metadata", "ownerReferences"})[0], {"uid"}),
            string_at(list(kRequestVersion, "ProvisioningRequest")[0], {"metadata", "uid"}));
}

TEST_F(Provisioning, ACheckWithoutItsConfigurationIsInactiveUntilItAppears) {
  std::string without(kQueue);
  const auto from = without.find("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ProvisioningRequestConfig");
  const auto to = without.find("---", from);
  const std::string conf = without.substr(from, to - from);
  without.erase(from, to + 4 - from);
  apply(without);
  apply(kJob);
  EXPECT_EQ(activity(),
            "BadParametersRef/False: ProvisioningRequestConfig.kueue.x-k8s.io \"conf\" does not exist: "
            "create it, or "
            "correct spec.parameters.name");
  EXPECT_FALSE(is(workload(), "QuotaReserved"));
  apply(conf);
  EXPECT_EQ(activity(), "Active/True: The admission check is active");
  EXPECT_TRUE(is(workload(), "QuotaReserved"));
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(Provisioning, ACheckWithForeignParametersIsInactive) {
  std::string foreign(kQueue);
  const std::string kind = "kind: ProvisioningRequestConfig, name: conf";
  foreign.replace(foreign.find(kind), kind.size(), "kind: MultiKueueConfig, name: conf");
  apply(foreign);
  EXPECT_THAT(activity(), HasSubstr("BadParametersRef/False: spec.parameters names a MultiKueueConfig.kueue.x-k8s.io"));
}

TEST_F(Provisioning, ChecksOfOtherControllersAreNotTouched) {
  std::string foreign(kQueue);
  const std::string controller = "kueue.x-k8s.io/provisioning-request";
  foreign.replace(foreign.find(controller), controller.size(), "example.com/other");
  apply(foreign);
  apply(kJob);
  EXPECT_EQ(activity(), "none");
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(Provisioning, AClusterWithoutTheKindIsInformedSoAndLeftInPeace) {
  simulate::WorldOptions options;
  options.start = parse_time("2026-01-01T00:00:00Z").value();
  options.controller = false;
  make(options);
  auto definition =
      world->request_for("", "CustomResourceDefinition", "", "provisioningrequests.autoscaling.x-k8s.io").value();
  auto remove = definition;
  remove.verb = api::Verb::kDelete;
  auto get = definition;
  get.verb = api::Verb::kGet;
  Json crd = world->call(std::move(get)).body;
  ASSERT_TRUE(world->call(std::move(remove)).ok());
  controller::Controller controller(world->client(), world->executor(), {});
  controller.lead();
  controller.start();
  apply(kQueue);
  apply(kJob);
  EXPECT_EQ(activity(),
            "NotSupported/False: The cluster does not serve ProvisioningRequests (autoscaling.x-k8s.io/v1): "
            "install "
            "their CustomResourceDefinition");
  EXPECT_TRUE(controller.leading());
  const auto writes = [&] {
    std::uint64_t sum = 0;
    for (const auto& [what, count] : controller.request_counts()) sum += count;
    return sum;
  };
  const auto before = writes();
  world->run_for(minutes(30));
  EXPECT_EQ(writes(), before);

  Json again = JsonObject{{"apiVersion", *find(crd, "apiVersion")},
                          {"kind", *find(crd, "kind")},
                          {"metadata", JsonObject{{"name", "provisioningrequests.autoscaling.x-k8s.io"}}},
                          {"spec", *find(crd, "spec")}};
  ASSERT_TRUE(world->create(std::move(again)));
  world->run_for(minutes(1));
  EXPECT_EQ(activity(), "Active/True: The admission check is active");
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(Provisioning, ProvisionedNodesAdmitTheWorkloadAndItsPodsNameTheRequest) {
  apply(kQueue);
  apply(kJob);
  EXPECT_TRUE(is(workload(), "QuotaReserved"));
  EXPECT_FALSE(is(workload(), "Admitted"));
  const std::string name = requests().at(0);
  answer("Provisioned", "there");
  EXPECT_TRUE(is(workload(), "Admitted"));
  EXPECT_EQ(string_at(check(), {"state"}), "Ready");
  EXPECT_EQ(string_at(check(), {"message"}), "there");
  EXPECT_THAT(events("AdmissionCheckUpdated"),
              ElementsAre("Admission check chk updated state from Pending to Ready with message: there"));
  const Json job = *world->get("batch/v1", "Job", "default", "j");
  EXPECT_FALSE(bool_at(job, {"spec", "suspend"}, true));
  const Json annotations = object_at(job, {"spec", "template", "metadata", "annotations"});
  EXPECT_EQ(string_at(annotations, {"autoscaling.x-k8s.io/consume-provisioning-request"}), name);
  EXPECT_EQ(string_at(annotations, {"autoscaling.x-k8s.io/provisioning-class-name"}), "manual.example.com");
  const auto pods = list("v1", "Pod");
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(string_at(pods[0], {"metadata", "annotations", "autoscaling.x-k8s.io/consume-provisioning-request"}), name);
  EXPECT_THAT(requests(), ElementsAre(name)) << "kept while its pods use it";
}

TEST_F(Provisioning, FailuresAreRetriedAfterTheBackOffAndThenTheWorkloadIsGivenUp) {
  apply(kQueue);
  apply(kJob);
  answer("Failed", "no room");
  EXPECT_FALSE(is(workload(), "QuotaReserved"));
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_EQ(int_at(check(), {"retryCount"}), 1);
  EXPECT_EQ(int_at(check(), {"requeueAfterSeconds"}), 20);
  EXPECT_FALSE(string_at(workload(), {"status", "requeueState", "requeueAt"}).empty()) << "the next try is shown";
  world->run_for(seconds(15));
  EXPECT_THAT(requests(), IsEmpty()) << "20 seconds are not over";
  world->run_for(seconds(10));
  EXPECT_THAT(requests(), ElementsAre(workload_name() + "-chk-2"));
  EXPECT_EQ(string_at(check(), {"message"}), "");
  answer("Failed", "still no room");
  EXPECT_FALSE(bool_at(workload(), {"spec", "active"}, true));
  EXPECT_FALSE(is(workload(), "QuotaReserved"));
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_THAT(templates(), IsEmpty());
  EXPECT_THAT(events("AdmissionCheckUpdated"),
              testing::UnorderedElementsAre(
                  "Admission check chk updated state from Pending to Retry with message: Retrying after "
                  "failure: no room",
                  "Admission check chk updated state from Pending to Rejected with message: still no room"));
}

TEST_F(Provisioning, RevokedCapacityStopsARunningJobAndAnExpiredBookingDoesNot) {
  apply(kQueue);
  apply(kJob);
  answer("Provisioned", "there");
  ASSERT_TRUE(is(workload(), "Admitted"));
  answer("BookingExpired", "late");
  EXPECT_TRUE(is(workload(), "Admitted"));
  EXPECT_EQ(string_at(check(), {"state"}), "Ready");
  answer("CapacityRevoked", "taken away");
  world->run_for(seconds(5));
  EXPECT_FALSE(bool_at(workload(), {"spec", "active"}, true));
  EXPECT_FALSE(is(workload(), "Admitted"));
  EXPECT_TRUE(bool_at(*world->get("batch/v1", "Job", "default", "j"), {"spec", "suspend"}));
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(Provisioning, WhatTheServerRefusesIsReportedAndForgottenWhenItIsCorrected) {
  apply(kQueue);
  std::string job(kJob);
  const std::string annotation = "provreq.kueue.x-k8s.io/extra: x";
  job.replace(job.find(annotation), annotation.size(), "provreq.kueue.x-k8s.io/extra: " + std::string(300, 'x'));
  apply(job);
  const std::string name = workload_name() + "-chk-1";
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_EQ(string_at(check(), {"state"}), "Pending");
  EXPECT_THAT(std::string(string_at(check(), {"message"})),
              testing::AllOf(HasSubstr("Error creating ProvisioningRequest \"" + name + "\": "),
                             HasSubstr("spec.parameters.extra: Too long")));
  // One event for each version of the workload. Writing the error into its check makes a second version.
  EXPECT_THAT(events("FailedCreate"), testing::AllOf(testing::SizeIs(testing::Le(2u)), testing::Not(IsEmpty()),
                                                     testing::Each(HasSubstr("spec.parameters.extra: Too long"))));
  const auto tries = world->controller().request_counts().at("create provisioningrequests");
  world->run_for(minutes(10));
  EXPECT_LE(world->controller().request_counts().at("create provisioningrequests"), tries + 25) << "ever more slowly";
  patch("kueue.x-k8s.io/v1beta2", "Workload", workload_name(), "",
        "{metadata: {annotations: {provreq.kueue.x-k8s.io/extra: short}}}");
  EXPECT_THAT(requests(), ElementsAre(name));
  EXPECT_EQ(string_at(check(), {"message"}), "");
}

// An API server that answers some creations of ProvisioningRequests with an error.
class Flaky final : public api::RestClient {
 public:
  Flaky(api::RestClient& real, Executor& executor, int failures, int code)
      : real_(real), executor_(executor), failures_(failures), code_(code) {}
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (request.verb != api::Verb::kCreate || request.resource.resource != "provisioningrequests" || failures_ == 0)
      return real_.call(std::move(request), std::move(done));
    --failures_;
    executor_.post([done = std::move(done), code = code_] {
      done({code, JsonObject{{"kind", "Status"}, {"code", code}, {"message", "the server is busy"}}, {}});
    });
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return real_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  api::RestClient& real_;
  Executor& executor_;
  int failures_, code_;
};

// kueue#13874: a transient error was reported as the reason of a later failure.
TEST_F(Provisioning, AMomentaryErrorIsTriedAgainAndNeverBlamed) {
  for (const int code : {0, 409, 429, 500, 503}) {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.controller = false;
    make(options);
    Flaky flaky(world->client(), world->executor(), 3, code);
    controller::Controller controller(flaky, world->executor(), {});
    controller.lead();
    controller.start();
    apply(kQueue);
    apply(kJob);
    ASSERT_THAT(requests(), ElementsAre(workload_name() + "-chk-1")) << code;
    EXPECT_EQ(controller.request_counts().at("create provisioningrequests"), 4u) << code;
    EXPECT_THAT(events("FailedCreate"), IsEmpty()) << code;
    EXPECT_EQ(string_at(check(), {"message"}), "") << code;
    answer("Failed", "no room");
    const Json last = workload();
    EXPECT_THAT(to_string(last), testing::AllOf(HasSubstr("Retrying after failure: no room"),
                                                testing::Not(HasSubstr("the server is busy"))))
        << code;
  }
}

TEST_F(Provisioning, ANewControllerGoesOnWhereTheOldOneWas) {
  simulate::WorldOptions options;
  options.start = parse_time("2026-01-01T00:00:00Z").value();
  options.controller = false;
  make(options);
  auto controller =
      std::make_unique<controller::Controller>(world->client(), world->executor(), controller::ControllerOptions{});
  controller->lead();
  controller->start();
  apply(kQueue);
  apply(kJob);
  const auto before = requests();
  ASSERT_EQ(before.size(), 1u);
  controller.reset();
  answer("Provisioned", "there");
  controller =
      std::make_unique<controller::Controller>(world->client(), world->executor(), controller::ControllerOptions{});
  controller->lead();
  controller->start();
  world->run_for(seconds(5));
  EXPECT_TRUE(is(workload(), "Admitted"));
  EXPECT_EQ(requests(), before);
  EXPECT_EQ(controller->request_counts().count("create provisioningrequests"), 0u);
  EXPECT_EQ(controller->request_counts().count("create podtemplates"), 0u);
}

}  // namespace
}  // namespace berth::simulation::provisioning_test
