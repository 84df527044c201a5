// What Berth sets on new MPIJobs.
#include <gtest/gtest.h>

#include "api/kueue/webhooks/admission.h"
#include "jobs/kinds/kind_rules.h"
#include "jobs/kinds/support.h"

namespace berth::jobs::kinds::mpijob_test {
namespace {

using support::yaml;

void set_defaults(Json& job) {
  const api::kueue::ObjectGetter get = support::nothing;
  const api::kueue::AdmissionPolicy policy;
  rules_of(support::shipped("MPIJob"), true).rules.mutate(job, {get, policy});
}

std::string offset_in(std::string_view head, std::string_view launcher) {
  Json job =
      yaml("{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: a, namespace: ns" + std::string(head) +
           "}, spec: {" + std::string(launcher) + "mpiReplicaSpecs: {Worker: {template: {spec: {containers: []}}}}}}");
  set_defaults(job);
  return std::string(string_at(job, {"spec", "mpiReplicaSpecs", "Worker", "template", "metadata", "annotations",
                                     "kueue.x-k8s.io/pod-index-offset"}));
}

TEST(MpiJob, WorkersCountFromTheLauncherWhenItIsAWorkerToo) {
  const std::string queue = ", labels: {kueue.x-k8s.io/queue-name: q}";
  EXPECT_EQ(offset_in(queue, "runLauncherAsWorker: true, "), "1");
  EXPECT_EQ(offset_in(queue, ""), "");
  EXPECT_EQ(offset_in("", "runLauncherAsWorker: true, "), "") << "a job without a queue is left alone";
}

TEST(MpiJob, OneWithoutWorkersIsLeftAsItIs) {
  Json job = yaml("{metadata: {labels: {kueue.x-k8s.io/queue-name: q}}, spec: {runLauncherAsWorker: true}}");
  set_defaults(job);
  EXPECT_EQ(find_path(job, {"spec", "mpiReplicaSpecs"}), nullptr);
}

}  // namespace
}  // namespace berth::jobs::kinds::mpijob_test
