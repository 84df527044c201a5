// Admission checks, and what happens to a job in its life.
#include "embedded/commands/why_not/stage.h"

namespace berth::cli::why_not {
namespace {

// A check of another controller, which is active.
void check(Stage& stage) {
  stage.apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget}, spec: {controllerName: "
      "example.com/budget}}");
  stage.patch("AdmissionCheck", "budget",
              "{status: {conditions: [{type: Active, status: 'True', reason: Active, message: m, lastTransitionTime: "
              "'2026-01-01T00:00:00Z'}]}}",
              "status");
  stage.queue("admissionChecksStrategy: {admissionChecks: [{name: budget}]}");
}

void answer(Stage& stage, const std::string& state, const std::string& message, const std::string& more = "") {
  stage.patch("Workload", stage.workload_of("train"),
              "{status: {admissionChecks: [{name: budget, state: " + state + ", message: " + message +
                  ", lastTransitionTime: '2026-01-01T00:00:10Z'" + more + "}]}}",
              "status");
}

void provisioning(Stage& stage, const std::string& controller) {
  stage.apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ProvisioningRequestConfig, metadata: {name: nodes}, spec: "
      "{provisioningClassName: " +
      controller +
      ", managedResources: [cpu], retryStrategy: {backoffLimitCount: 0}}}\n---\n"
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: nodes}, spec: {controllerName: "
      "kueue.x-k8s.io/provisioning-request, parameters: {apiGroup: kueue.x-k8s.io, kind: ProvisioningRequestConfig, "
      "name: nodes}}}");
  stage.queue("admissionChecksStrategy: {admissionChecks: [{name: nodes}]}");
}

const Setting kImpatient{.configuration =
                             "{waitForPodsReady: {timeout: 1m, requeuingStrategy: {backoffLimitCount: 1, "
                             "backoffBaseSeconds: 600, backoffMaxSeconds: 600}}}"};

}  // namespace

std::vector<Situation> of_checks() {
  return {
      {"An admission check has not answered",
       [](Stage& s) {
         check(s);
         s.job("train", {});
       }},
      {"An admission check said no",
       [](Stage& s) {
         check(s);
         s.job("train", {});
         answer(s, "Rejected", "the budget is spent");
         s.wait(minutes(1));
       }},
      {"An admission check asks to try again later",
       [](Stage& s) {
         check(s);
         s.job("train", {});
         answer(s, "Retry", "the budget service is down", ", requeueAfterSeconds: 600");
         s.wait(seconds(30));
       }},
      {"The controller of an admission check is not there",
       [](Stage& s) {
         s.apply(
             "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget}, spec: "
             "{controllerName: example.com/budget}}");
         s.queue("admissionChecksStrategy: {admissionChecks: [{name: budget}]}");
         s.job("train", {});
       }},
      {"Nodes were asked for, and have not come",
       [](Stage& s) {
         provisioning(s, "manual.example.com");
         s.job("train", {});
       }},
      {"Its annotation admission-gated-by is set",
       [](Stage& s) { s.job("train", {.annotations = "kueue.x-k8s.io/admission-gated-by: example.com/approval"}); },
       {.gates = "AdmissionGatedBy=true"}},
      {"Somebody deactivated it",
       [](Stage& s) {
         s.job("train", {});
         s.patch("Workload", s.workload_of("train"), "{spec: {active: false}}");
         s.wait(minutes(1));
       }},
      {"Its pods were not ready in time: it waits for its next try",
       [](Stage& s) {
         s.job("train", {"cpu: 6"});
         s.wait(minutes(2));
       },
       {"1x1x1", "cpu=4,memory=32Gi", kImpatient.configuration}},
      {"Its pods were not ready in time, too often",
       [](Stage& s) {
         s.job("train", {"cpu: 6"});
         s.wait(minutes(20));
       },
       {"1x1x1", "cpu=4,memory=32Gi", kImpatient.configuration}},
      {"It ran for longer than it may",
       [](Stage& s) {
         s.job("train", {.labels = "kueue.x-k8s.io/max-exec-time-seconds: '60'"});
         s.wait(minutes(2));
       }},
      {"Pods of another job are not ready yet, and admission waits for them",
       [](Stage& s) {
         s.job("other", {"cpu: 6"});
         s.job("train", {});
       },
       {"1x1x1", "cpu=4,memory=32Gi", "{waitForPodsReady: {timeout: 10m, blockAdmission: true}}"}},
      {"Its requests are outside the LimitRange of the namespace",
       [](Stage& s) {
         s.apply(
             "{apiVersion: v1, kind: LimitRange, metadata: {name: small, namespace: default}, spec: {limits: [{type: "
             "Container, max: {cpu: 2}}]}}");
         s.job("train", {"cpu: 4"});
       }},
  };
}

}  // namespace berth::cli::why_not
