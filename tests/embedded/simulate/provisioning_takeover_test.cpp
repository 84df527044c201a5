// ProvisioningRequests as releases of Kueue left them, when Berth takes over: requests and templates stay, and no pod
// that uses them stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "controller/controller.h"
#include "embedded/simulate/provisioning_fixture.h"
#include "embedded/simulate/world.h"
#include "jobs/workload_name.h"

namespace berth::simulation::provisioning_takeover_test {
namespace {

using namespace provisioning_tests;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kTime = "lastTransitionTime: '2026-01-01T00:00:00Z'";

// What a release wrote. The names are the same in all of them.
struct Release {
  std::string name;
  std::string workload_version;  // in the owner references
  bool marks_request, marks_template;
  bool hands_over;  // a template belongs to the workload first. Otherwise to the request from the start
  std::vector<std::string> annotations;  // their prefixes, of pods
};
void PrintTo(const Release& release, std::ostream* out) { *out << release.name; }
const std::string kOldPrefix = "cluster-autoscaler.kubernetes.io", kPrefix = "autoscaling.x-k8s.io";
const Release kReleases[] = {{"0.8", "v1beta1", false, false, false, {kOldPrefix}},
                             {"0.9 to 0.10", "v1beta1", true, true, false, {kOldPrefix, kPrefix}},
                             {"0.11 to 0.15", "v1beta1", true, true, true, {kOldPrefix, kPrefix}},
                             {"0.16 to 0.20", "v1beta2", true, true, true, {kPrefix}}};

class ProvisioningTakeover : public Provisioning, public testing::WithParamInterface<Release> {
 protected:
  ProvisioningTakeover() {
    simulate::WorldOptions options;
    options.start = parse_time("2026-01-01T00:00:00Z").value();
    options.controller = false;
    Provisioning::make(options);
    apply(kQueue);
    patch("kueue.x-k8s.io/v1beta2", "AdmissionCheck", "chk", "status",
          "{status: {conditions: [{type: Active, status: 'True', reason: Active, message: The admission check is "
          "active, " +
              std::string(kTime) + "}]}}");
    job_ = create(kJob);
    job_uid_ = uid_of(job_);
    name_ = jobs::workload_name("batch", "Job", "j", job_uid_);
  }
  ~ProvisioningTakeover() override { controller_.reset(); }

  Json create(std::string_view text) {
    const auto made = world->create(parse_yaml(text).value().front());
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : Json();
  }
  static std::string uid_of(const Json& object) { return std::string(string_at(object, {"metadata", "uid"})); }

  // The job's workload holds quota, with its check in this state; `more`: conditions.
  void leave_workload(const std::string& check, const std::string& more = "") {
    workload_uid_ = uid_of(create(
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " + name_ +
        ", namespace: default, labels: {kueue.x-k8s.io/job-uid: " + job_uid_ +
        "}, annotations: {provreq.kueue.x-k8s.io/extra: x}, finalizers: [kueue.x-k8s.io/resource-in-use], "
        "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, controller: true, blockOwnerDeletion: true, "
        "uid: " +
        job_uid_ + "}]}, spec: {queueName: q, active: true, podSets: [{name: main, count: 3, template: " + pod(false) +
        "}]}}"));
    patch("kueue.x-k8s.io/v1beta2", "Workload", name_, "status",
          "{status: {admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 3, flavors: {cpu: f}, "
          "resourceUsage: {cpu: 3}}]}, admissionChecks: [{name: chk, state: " +
              check + ", " + std::string(kTime) +
              "}], conditions: [{type: QuotaReserved, status: 'True', reason: QuotaReserved, message: m, " +
              std::string(kTime) + "}" + more + "]}}");
  }
  void leave_admitted_workload() {
    leave_workload("Ready, message: done, podSetUpdates: [{name: main, annotations: " + updates() + "}]",
                   ", {type: Admitted, status: 'True', reason: Admitted, message: m, " + std::string(kTime) + "}");
  }
  // The annotations that pods get for the first request.
  std::string updates() const {
    std::string out;
    for (const auto& group : GetParam().annotations) {
      out += (out.empty() ? "{" : ", ") + group + "/consume-provisioning-request: " + request_name(1) + ", " + group +
             "/provisioning-class-name: manual.example.com";
    }
    return out + "}";
  }
  // The template of the job, as the server completed it. `placed`: with what the flavor adds.
  std::string pod(bool placed) {
    Json spec = *find_path(job_, {"spec", "template", "spec"});
    if (placed) {
      ensure_path(spec, {"nodeSelector", "pool"}) = "f";
      ensure_path(spec, {"tolerations"}) = JsonArray{JsonObject{{"key", "t"}, {"operator", "Exists"}}};
    }
    return to_string(JsonObject{{"metadata", JsonObject()}, {"spec", std::move(spec)}});
  }
  static std::string marked(bool marked) { return marked ? "labels: {kueue.x-k8s.io/managed: 'true'}, " : ""; }
  static std::string owned_by(const std::string& version, const std::string& kind, const std::string& name,
                              const std::string& uid) {
    return "ownerReferences: [{apiVersion: " + version + ", kind: " + kind + ", name: " + name +
           ", controller: true, blockOwnerDeletion: true, uid: " + uid + "}]";
  }
  std::string owned_by_workload() const {
    return owned_by("kueue.x-k8s.io/" + GetParam().workload_version, "Workload", name_, workload_uid_);
  }
  std::string request_name(int attempt) const { return name_ + "-chk-" + std::to_string(attempt); }

  // `condition`: of the request, "" none.
  void leave_request(int attempt, const std::string& condition) {
    const std::string request = request_name(attempt);
    request_uid_ = uid_of(create(
        "{apiVersion: autoscaling.x-k8s.io/v1, kind: ProvisioningRequest, metadata: {name: " + request +
        ", namespace: default, " + marked(GetParam().marks_request) + owned_by_workload() +
        "}, spec: {provisioningClassName: manual.example.com, parameters: {p: '1', extra: x}, podSets: [{count: 3, "
        "podTemplateRef: {name: ppt-" +
        request + "-main}}]}}"));
    if (condition.empty()) return;
    patch(kRequestVersion, "ProvisioningRequest", request, "status",
          "{status: {conditions: [{type: " + condition + ", status: 'True', reason: R, message: done, " +
              std::string(kTime) + "}]}}");
  }
  // `handed_over`: the request is its controller.
  void leave_template(int attempt, bool handed_over) {
    const std::string owner =
        handed_over ? owned_by("autoscaling.x-k8s.io/v1", "ProvisioningRequest", request_name(attempt), request_uid_)
                    : owned_by_workload();
    create("{apiVersion: v1, kind: PodTemplate, metadata: {name: ppt-" + request_name(attempt) +
           "-main, namespace: default, " + marked(GetParam().marks_template) + owner + "}, template: " + pod(true) +
           "}");
  }
  // As Kueue started it.
  void start_job() {
    patch("batch/v1", "Job", "j", "",
          "{spec: {suspend: false, template: {metadata: {annotations: " + updates() +
              "}, spec: {nodeSelector: {pool: f}, "
              "tolerations: [{key: t, operator: Exists}]}}}}");
  }

  void berth_takes_over() {
    requests_before_ = list(kRequestVersion, "ProvisioningRequest");
    templates_before_ = list("v1", "PodTemplate");
    controller_ =
        std::make_unique<controller::Controller>(world->client(), world->executor(), controller::ControllerOptions());
    controller_->lead();
    controller_->start();
    world->run_for(minutes(10));
    ASSERT_TRUE(controller_->leading());
  }
  static std::vector<std::string> uids(const std::vector<Json>& objects) {
    std::vector<std::string> out;
    for (const Json& one : objects) out.push_back(uid_of(one));
    return out;
  }
  void nothing_was_made_or_deleted() {
    EXPECT_EQ(uids(list(kRequestVersion, "ProvisioningRequest")), uids(requests_before_));
    EXPECT_EQ(uids(list("v1", "PodTemplate")), uids(templates_before_));
    for (const auto& [request, count] : controller_->request_counts()) {
      EXPECT_FALSE(request.starts_with("delete ")) << request;
      EXPECT_FALSE(request == "create provisioningrequests" || request == "create podtemplates" ||
                   request == "create workloads")
          << request;
    }
    EXPECT_EQ(uid_of(workload()), workload_uid_);
    EXPECT_FALSE(is(workload(), "Evicted"));
  }
  std::string owner_of_template() {
    const Json made = list("v1", "PodTemplate").at(0);
    const auto& owners = array_at(made, {"metadata", "ownerReferences"});
    return owners.size() == 1 ? std::string(string_at(owners[0], {"uid"})) : std::to_string(owners.size());
  }

  Json job_;
  std::string job_uid_, name_, workload_uid_, request_uid_;
  std::vector<Json> requests_before_, templates_before_;
  std::unique_ptr<controller::Controller> controller_;
};

INSTANTIATE_TEST_SUITE_P(Releases, ProvisioningTakeover, testing::ValuesIn(kReleases), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == ' '; }, '_');
  return "Kueue_" + name;
});

TEST_P(ProvisioningTakeover, AJobRunsOnOnItsNodes) {
  leave_admitted_workload();
  leave_request(1, "Provisioned");
  leave_template(1, true);
  start_job();
  berth_takes_over();
  nothing_was_made_or_deleted();
  EXPECT_FALSE(bool_at(*world->get("batch/v1", "Job", "default", "j"), {"spec", "suspend"}));
  EXPECT_TRUE(is(workload(), "Admitted"));
}

TEST_P(ProvisioningTakeover, ARequestThatWaitsIsNotMadeAgain) {
  leave_workload("Pending, message: ''");
  leave_request(1, "Accepted");
  leave_template(1, true);
  berth_takes_over();
  nothing_was_made_or_deleted();
  EXPECT_FALSE(is(workload(), "Admitted"));
  answer("Provisioned", "done");
  world->run_for(seconds(10));
  EXPECT_TRUE(is(workload(), "Admitted"));
  EXPECT_EQ(string_at(check(), {"state"}), "Ready");
  EXPECT_THAT(requests(), ElementsAre(request_name(1)));
}

// An earlier attempt failed. Releases up to 0.15 counted attempts by the names of requests only.
TEST_P(ProvisioningTakeover, TheSecondAttemptGoesOn) {
  leave_workload("Pending, message: ''");
  leave_request(2, "Accepted");
  leave_template(2, true);
  berth_takes_over();
  nothing_was_made_or_deleted();
  answer("Provisioned", "done");
  world->run_for(seconds(10));
  EXPECT_TRUE(is(workload(), "Admitted"));
  EXPECT_THAT(requests(), ElementsAre(request_name(2)));
}

// Kueue 0.8 let the workload keep its quota while a failed request waits for its next attempt.
TEST_P(ProvisioningTakeover, AFailedRequestIsTriedAgainOnce) {
  leave_workload("Pending, message: 'Retrying after failure: done'");
  leave_request(1, "Failed");
  leave_template(1, true);
  berth_takes_over();
  EXPECT_THAT(requests(), ElementsAre(request_name(2)));
  EXPECT_THAT(templates(), ElementsAre("ppt-" + request_name(2) + "-main"));
  EXPECT_EQ(uid_of(workload()), workload_uid_);
  answer("Failed", "no nodes");
  world->run_for(minutes(10));
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_FALSE(bool_at(workload(), {"spec", "active"})) << "no third attempt: the configuration allows one more";
}

// Kueue ended between its writes.
TEST_P(ProvisioningTakeover, WhatIsHalfDoneIsDoneOnce) {
  leave_workload("Pending, message: ''");
  leave_request(1, "");
  if (GetParam().hands_over) leave_template(1, false);
  berth_takes_over();
  EXPECT_EQ(uids(list(kRequestVersion, "ProvisioningRequest")), uids(requests_before_)) << "the request stays";
  ASSERT_THAT(templates(), ElementsAre("ppt-" + request_name(1) + "-main"));
  EXPECT_EQ(owner_of_template(), request_uid_);
  if (GetParam().hands_over) EXPECT_EQ(uids(list("v1", "PodTemplate")), uids(templates_before_));
}

TEST_P(ProvisioningTakeover, TheEndTakesEverythingAway) {
  leave_admitted_workload();
  leave_request(1, "Provisioned");
  leave_template(1, true);
  start_job();
  berth_takes_over();
  patch("kueue.x-k8s.io/v1beta2", "Workload", name_, "", "{spec: {active: false}}");
  world->run_for(minutes(2));
  EXPECT_THAT(requests(), IsEmpty());
  EXPECT_THAT(templates(), IsEmpty());
}

}  // namespace
}  // namespace berth::simulation::provisioning_takeover_test
