// What the webhooks of described kinds set and refuse.
#include "jobs/kinds/kind_rules.h"

#include <gmock/gmock.h>

#include "base/merge_patch.h"
#include "jobs/kinds/webhook.h"

namespace berth::jobs::kinds::kind_rules_test {
namespace {

using support::job;
using support::Webhook;
using support::yaml;
using ::testing::HasSubstr;

constexpr std::string_view kCluster =
    "{headGroupSpec: {template: $}, workerGroupSpecs: [{groupName: w, replicas: 1, template: $}]}";

std::string ray_job(std::string_view more) {
  return "{rayClusterSpec: " + std::string(kCluster) + ", " + std::string(more) + "}";
}

TEST(KindRules, AManagedJobIsSuspended) {
  const Webhook webhook("RayService");
  const Json service = job("{rayClusterConfig: " + std::string(kCluster) + "}");
  EXPECT_TRUE(bool_at(webhook.completed(service), {"spec", "rayClusterConfig", "suspend"}));
  Json plain = service;
  erase_path(plain, {"metadata", "labels"});
  EXPECT_EQ(canonical_json(webhook.completed(plain)), canonical_json(plain));
}

TEST(KindRules, AManagedTrainJobGetsAPlaceForItsAdmission) {
  const Webhook webhook("TrainJob");
  const Json train_job = job("{runtimeRef: {name: shared}, runtimePatches: [{manager: me}]}");
  EXPECT_EQ(
      canonical_json(*find_path(webhook.completed(train_job), {"spec", "runtimePatches"})),
      R"([{"manager":"me"},{"manager":"kueue.x-k8s.io/manager","trainingRuntimeSpec":{"template":{"spec":{}}}}])");
  EXPECT_EQ(webhook.refusal(train_job), "");
  Json plain = train_job;
  erase_path(plain, {"metadata", "labels"});
  EXPECT_EQ(canonical_json(webhook.completed(plain)), canonical_json(plain));
  EXPECT_EQ(webhook.refusal(job("{runtimeRef: {name: nobody}}")), "runtime 'nobody' not found");
}

TEST(KindRules, TheRanksOfMpiWorkersBeginBehindALauncherThatWorks) {
  const Webhook webhook("MPIJob");
  const auto offset = [&](std::string_view launcher, std::string_view more) {
    const Json completed = webhook.completed(job("{mpiReplicaSpecs: {Launcher: {template: " + std::string(launcher) +
                                                 "}, Worker: {template: $}}" + std::string(more) + "}"));
    return std::string(string_at(completed, {"spec", "mpiReplicaSpecs", "Worker", "template", "metadata", "annotations",
                                             "kueue.x-k8s.io/pod-index-offset"}));
  };
  EXPECT_EQ(offset("$", ", runLauncherAsWorker: true"), "1");
  EXPECT_EQ(offset("$", ""), "");
  EXPECT_EQ(offset("{metadata: {annotations: {kueue.x-k8s.io/podset-group-name: g}}}", ", runLauncherAsWorker: true"),
            "");
}

// Operators know other types by other rules, or refuse them; their pods would have no quota.
TEST(KindRules, KubeflowJobsHaveNoPodsOfUnknownTypes) {
  for (const auto& [kind, member] :
       {std::pair("PyTorchJob", "pytorchReplicaSpecs"), std::pair("TFJob", "tfReplicaSpecs"),
        std::pair("XGBoostJob", "xgbReplicaSpecs"), std::pair("PaddleJob", "paddleReplicaSpecs"),
        std::pair("JAXJob", "jaxReplicaSpecs"), std::pair("MPIJob", "mpiReplicaSpecs")}) {
    const Webhook webhook(kind);
    const std::string open = "{" + std::string(member) + ": {Worker: {template: $}";
    EXPECT_EQ(webhook.refusal(job(open + "}}")), "") << kind;
    EXPECT_THAT(webhook.refusal(job(open + ", worker: {template: $}}}")),
                HasSubstr("spec." + std::string(member) + ": Invalid value: must have no types but "));
  }
}

// The controller could not stop the job any more, either.
TEST(KindRules, AnUpdateIsNotRefusedForWhatWasWrongBefore) {
  const Webhook webhook("JAXJob");
  const Json wrong = job("{jaxReplicaSpecs: {Worker: {template: $}, Other: {template: $}}}");
  Json changed = wrong;
  ensure_path(changed, {"spec", "runPolicy", "suspend"}) = true;
  EXPECT_NE(webhook.refusal(changed), "");
  EXPECT_EQ(webhook.refusal(changed, &wrong), "");
  const Json right = job("{jaxReplicaSpecs: {Worker: {template: $}}}");
  EXPECT_NE(webhook.refusal(changed, &right), "");
}

// Kueue 0.20, RayServiceValidateUpgradeStrategy: a managed service is elastic or has type None.
TEST(KindRules, ARayServiceRunsNoSecondClusterDuringUpgrades) {
  Webhook webhook("RayService");
  const auto service = [](std::string_view strategy) {
    return job("{rayClusterConfig: " + std::string(kCluster) + std::string(strategy) + "}");
  };
  const std::string why =
      "must be None: with any other strategy KubeRay runs a second cluster during an upgrade, and its pods would have "
      "no quota";
  EXPECT_EQ(webhook.refusal(service("")), "spec.upgradeStrategy.type: Required value: " + why);
  EXPECT_EQ(webhook.refusal(service(", upgradeStrategy: {}")), "spec.upgradeStrategy.type: Required value: " + why);
  for (const std::string type : {"NewCluster", "NewClusterWithIncrementalUpgrade"}) {
    EXPECT_EQ(webhook.refusal(service(", upgradeStrategy: {type: " + type + "}")),
              "spec.upgradeStrategy.type: Invalid value: \"" + type + "\": " + why);
  }
  const Json right = service(", upgradeStrategy: {type: None}"),
             wrong = service(", upgradeStrategy: {type: NewCluster}"), old = service("");
  Json grows = wrong, plain = wrong;
  ensure_path(grows, {"metadata", "annotations", "kueue.x-k8s.io/elastic-job"}) = "true";
  erase_path(plain, {"metadata", "labels"});
  EXPECT_EQ(webhook.refusal(right), "");
  EXPECT_EQ(webhook.refusal(webhook.completed(grows)), "") << "the pods of the second cluster wait for quota";
  EXPECT_EQ(webhook.refusal(plain), "") << "without a queue";
  EXPECT_EQ(webhook.refusal(wrong, &wrong), "") << "it was so before";
  EXPECT_EQ(webhook.refusal(old, &old), "");
  EXPECT_NE(webhook.refusal(wrong, &right), "");
  EXPECT_NE(webhook.refusal(wrong, &old), "");
  EXPECT_NE(webhook.refusal(old, &right), "");
  EXPECT_EQ(webhook.refusal(right, &wrong), "");
  EXPECT_THAT(webhook.refusal(wrong, &plain), HasSubstr(why)) << "it comes to a queue";
  webhook.policy.check_ray_upgrades = false;
  EXPECT_EQ(webhook.refusal(wrong), "");
}

// Kueue 0.20, TASRejectFalseUnconstrainedTopology.
TEST(KindRules, WithItsGateAFalseUnconstrainedTopologyIsRefused) {
  Webhook webhook("JAXJob");
  const Json no =
      job("{runPolicy: {suspend: true}, jaxReplicaSpecs: {Worker: {template: {metadata: {annotations: "
          "{kueue.x-k8s.io/podset-unconstrained-topology: 'false'}}, spec: {containers: [{name: c, image: i}]}}}}}");
  EXPECT_EQ(webhook.refusal(no), "");
  webhook.policy.labels.refuse_false_unconstrained = true;
  EXPECT_THAT(webhook.refusal(no),
              HasSubstr("[kueue.x-k8s.io/podset-unconstrained-topology]: Invalid value: \"false\""));
  Json later = no;
  ensure_path(later, {"spec", "more"}) = "a";
  EXPECT_EQ(webhook.refusal(later, &no), "");
}

TEST(KindRules, GroupsOfWorkersAreNotCalledHeadAndNotTooMany) {
  const Webhook webhook("RayCluster");
  EXPECT_EQ(webhook.refusal(job("{headGroupSpec: {template: $}, workerGroupSpecs: [{groupName: head, template: $}]}")),
            "spec.workerGroupSpecs[0].groupName: Forbidden: \"head\" is reserved for the head group");
  std::string groups;
  for (int i = 0; i < 18; ++i) groups += "{groupName: w" + std::to_string(i) + ", template: $},";
  EXPECT_EQ(webhook.refusal(job("{headGroupSpec: {template: $}, workerGroupSpecs: [" + groups + "]}")),
            "spec.workerGroupSpecs: Too many: 19: must have at most 18 items");
}

TEST(KindRules, ARayJobHasAClusterOfItsOwn) {
  const Webhook webhook("RayJob");
  EXPECT_EQ(webhook.refusal(job(ray_job("shutdownAfterJobFinishes: true"))), "");
  EXPECT_EQ(webhook.refusal(job(ray_job("submissionMode: HTTPMode"))),
            "spec.shutdownAfterJobFinishes: Invalid value: false: a kueue managed job should delete the cluster after "
            "finishing");
  EXPECT_EQ(
      webhook.refusal(job(ray_job("clusterSelector: {a: b}"))),
      "spec.clusterSelector: Invalid value: {\"a\":\"b\"}: a kueue managed job should not use an existing cluster");
  EXPECT_EQ(webhook.refusal(job("{shutdownAfterJobFinishes: true}")),
            "spec.rayClusterSpec: Required value: rayClusterSpec is required for Kueue-managed jobs that don't use "
            "clusterSelector");
  // The quota is with the owner of the cluster.
  const Json guest = job("{clusterSelector: {a: b}}");
  EXPECT_EQ(canonical_json(webhook.completed(guest)), canonical_json(guest));
  EXPECT_EQ(webhook.refusal(guest), "");
  // Without a webhook there may be one with a cluster of its own, too: nobody manages it.
  const auto kind = support::shipped("RayJob");
  EXPECT_TRUE(is_skipped(*kind, guest));
  EXPECT_TRUE(is_skipped(*kind, job(ray_job("clusterSelector: {a: b}"))));
  EXPECT_FALSE(is_skipped(*kind, job(ray_job("clusterSelector: {}"))));
}

TEST(KindRules, SparkRunsInTheClusterWithAFixedNumberOfExecutors) {
  const Webhook webhook("SparkApplication");
  EXPECT_EQ(webhook.refusal(job("{mode: cluster, driver: {}, executor: {}}")), "");
  EXPECT_EQ(webhook.refusal(job("{mode: client, driver: {}, executor: {}}")),
            "spec.mode: Invalid value: \"client\": only Cluster mode is supported for a kueue managed job");
  EXPECT_THAT(webhook.refusal(job("{mode: cluster, driver: {}, executor: {}, dynamicAllocation: {enabled: true}}")),
              HasSubstr("spec.dynamicAllocation.enabled: Invalid value: true"));
  EXPECT_THAT(webhook.refusal(job("{mode: cluster, driver: {annotations: {kueue.x-k8s.io/podset-slice-size: '0'}}, "
                                  "executor: {}}")),
              HasSubstr("spec.driver.annotations[kueue.x-k8s.io/podset-slice-size]"));
}

TEST(KindRules, GroupsOfPodSetsArePairsWithALeader) {
  const auto refusal = [](int pod_sets, int replicas, std::string_view other_level = "rack") {
    std::string text = "{replicatedJobs: [";
    for (int i = 0; i < pod_sets; ++i)
      text += "{name: r" + std::to_string(i) + ", replicas: " + std::to_string(replicas) +
              ", template: {spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-group-name: g, "
              "kueue.x-k8s.io/podset-required-topology: " +
              std::string(i == 0 ? "rack" : other_level) + "}}, spec: {containers: []}}}}},";
    return Webhook("JobSet").refusal(job(text + "]}"));
  };
  constexpr std::string_view kFirst = "spec.replicatedJobs[0].template.spec.template.metadata.annotations";
  EXPECT_EQ(refusal(2, 1), "");
  EXPECT_THAT(refusal(3, 1), HasSubstr(std::string(kFirst) +
                                       "[kueue.x-k8s.io/podset-group-name]: Invalid value: \"g\": can only define "
                                       "groups of exactly 2 pod sets, got: 3 pod set(s), "));
  EXPECT_THAT(refusal(2, 2), HasSubstr("at least one pod set has only 1 replica, got: 2 replica(s) and 2 replica(s)"));
  EXPECT_THAT(refusal(2, 1, "block"), HasSubstr(std::string(kFirst) + ": Invalid value: must specify"));
}

TEST(KindRules, ErrorsComeInTheOrderOfKueue) {
  const Json wrong = job("{pytorchReplicaSpecs: {Worker: {template: $}}, mpiReplicaSpecs: {Worker: {template: $}}}",
                         "{annotations: {kueue.x-k8s.io/elastic-job: 'true', kueue.x-k8s.io/admission-gated-by: gate}, "
                         "labels: {kueue.x-k8s.io/max-exec-time-seconds: '0'}}");
  const auto order = [&](std::string_view kind) {
    const Webhook webhook(kind);
    std::string out;
    for (const auto& error : webhook.rules.check(wrong, nullptr, "", webhook.context))
      out += error.field.substr(error.field.find('/') + 1, 3) + " ";
    return out;
  };
  EXPECT_EQ(order("PyTorchJob"), "max ela adm ");
  EXPECT_EQ(order("MPIJob"), "adm ela max ");
}

TEST(KindRules, AmountsAreNotNegative) {
  const auto with = [](std::string_view pod_spec) {
    return yaml("{replicatedJobs: [{name: a, template: {spec: {template: {spec: " + std::string(pod_spec) + "}}}}]}");
  };
  const auto job_set = [&](std::string_view pod_spec) {
    Json out = job("{}");
    out.as_object()["spec"] = with(pod_spec);
    return out;
  };
  const Webhook webhook("JobSet");
  const std::string refused =
      "spec.replicatedJobs[0].template.spec.template.spec.overhead[cpu]: Invalid value: \"-100\": must be greater than "
      "or "
      "equal to 0";
  const Json wrong = job_set("{containers: [], overhead: {cpu: '-100'}}");
  EXPECT_EQ(webhook.refusal(wrong), refused);
  Json labelled = wrong;
  ensure_path(labelled, {"metadata", "labels", "a"}) = "b";
  EXPECT_EQ(webhook.refusal(labelled, &wrong), "") << "an old one can still be changed";
}

TEST(KindRules, ARunningJobKeepsItsQueue) {
  const Webhook webhook("RayCluster");
  Json now = job(kCluster);
  const Json before = now;
  ensure_path(now, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) = "other";
  EXPECT_EQ(webhook.refusal(now, &before),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"other\": field is immutable");
}

}  // namespace
}  // namespace berth::jobs::kinds::kind_rules_test
