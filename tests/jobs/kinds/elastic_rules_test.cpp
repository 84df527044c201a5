// What the webhooks of described kinds set and refuse for elastic jobs (KEP-77).
#include <gmock/gmock.h>

#include "jobs/kinds/read/read_kind.h"
#include "jobs/kinds/webhook.h"

namespace berth::jobs::kinds::elastic_rules_test {
namespace {

using api::kueue::AdmissionPolicy;
using support::job;
using support::Webhook;
using ::testing::HasSubstr;
using ::testing::Not;

// An elastic job: `spec` has templates `@`, which have the gate that its webhook adds.
Json elastic(std::string_view spec, std::string_view more = "") {
  std::string text(spec);
  constexpr std::string_view gated =
      "{spec: {schedulingGates: [{name: kueue.x-k8s.io/elastic-job}], containers: [{name: c, image: i}]}}";
  for (auto at = text.find('@'); at != std::string::npos; at = text.find('@')) text.replace(at, 1, gated);
  return job(text, "{annotations: {kueue.x-k8s.io/elastic-job: 'true'" + std::string(more) + "}}");
}

TEST(ElasticRules, OnlyElasticRayClustersMayScaleThemselves) {
  const auto cluster = [](std::string_view pod, std::string_view more = "") {
    return "{headGroupSpec: {template: " + std::string(pod) +
           "}, workerGroupSpecs: [{groupName: w, template: " + std::string(pod) + "}], enableInTreeAutoscaling: true" +
           std::string(more) + "}";
  };
  Webhook clusters("RayCluster"), services("RayService");
  EXPECT_THAT(
      clusters.refusal(job(cluster("$"))),
      testing::StartsWith("spec.enableInTreeAutoscaling: Invalid value: true: a kueue-managed RayCluster can use "));
  const std::string service = "{upgradeStrategy: {type: None}, rayClusterConfig: ";
  EXPECT_EQ(services.refusal(job(service + cluster("$") + "}")),
            "spec.rayClusterConfig.enableInTreeAutoscaling: Invalid value: true: a kueue managed job should only use "
            "autoscaling when workload slicing is enabled");
  EXPECT_EQ(clusters.refusal(elastic(cluster("@"))), "");
  EXPECT_EQ(services.refusal(elastic(service + cluster("@") + "}")), "");
  EXPECT_EQ(clusters.refusal(elastic(cluster("@", ", managedBy: kueue.x-k8s.io/multikueue"))),
            "spec.enableInTreeAutoscaling: Forbidden: in-tree autoscaling is not supported for a MultiKueue-managed "
            "elastic RayCluster");
  clusters.policy.labels.elastic_jobs = services.policy.labels.elastic_jobs = false;
  EXPECT_NE(clusters.refusal(elastic(cluster("@"))), "");
  EXPECT_NE(services.refusal(elastic(service + cluster("@") + "}")), "");
}

TEST(ElasticRules, PodsOfElasticJobsHaveTheGate) {
  for (const auto& [kind, open, close] :
       {std::tuple("RayCluster", "{", "}"),
        std::tuple("RayJob", "{shutdownAfterJobFinishes: true, rayClusterSpec: {", "}}"),
        std::tuple("RayService", "{rayClusterConfig: {", "}}")}) {
    Webhook webhook(kind);
    const std::string head = std::string(open) + "headGroupSpec: {template: ",
                      workers = "}, workerGroupSpecs: [{groupName: w, template: ";
    const Json bare = elastic(head + "$" + workers + "$}]" + close),
               half = elastic(head + "@" + workers + "$}]" + close);
    EXPECT_EQ(webhook.refusal(webhook.completed(bare)), "") << kind;
    EXPECT_THAT(webhook.refusal(bare), HasSubstr("headGroupSpec.template.spec.schedulingGates: Invalid value: []: an "
                                                 "elastic job must have the ElasticJobSchedulingGate"))
        << kind;
    EXPECT_THAT(webhook.refusal(half), HasSubstr("workerGroupSpecs[0].template.spec.schedulingGates")) << kind;
    EXPECT_THAT(webhook.refusal(half), Not(HasSubstr("headGroupSpec"))) << kind;
    EXPECT_EQ(webhook.refusal(half, &bare), "") << kind << ": it was wrong before";
    const Json whole = webhook.completed(bare);
    Json running = whole, changed = half;
    for (Json* one : {&running, &changed}) {
      ensure_path(*one, {"spec", "suspend"}) = false;
      ensure_path(*one, {"spec", "rayClusterConfig", "suspend"}) = false;
    }
    EXPECT_THAT(webhook.refusal(changed, &running), HasSubstr("an elastic job must have")) << kind;
    Json stopped = whole;
    EXPECT_EQ(webhook.refusal(stopped, &running), "") << kind;
    webhook.policy.labels.elastic_jobs = false;
    EXPECT_EQ(webhook.refusal(bare), kind == std::string("RayService") ? webhook.refusal(whole) : "");
    EXPECT_EQ(canonical_json(webhook.completed(bare)).find("schedulingGates"), std::string::npos) << kind;
  }
}

TEST(ElasticRules, ARunningJobDoesNotGetASizeThatCannotBeCounted) {
  const Webhook webhook("RayCluster");
  const auto cluster = [](std::string_view group) {
    return elastic("{suspend: false, headGroupSpec: {template: @}, workerGroupSpecs: [{groupName: w, template: @, " +
                   std::string(group) + "}]}");
  };
  const Json before = cluster("replicas: 2"), huge = cluster("replicas: 2000000000, numOfHosts: 2");
  EXPECT_EQ(webhook.refusal(cluster("replicas: 2000000000"), &before), "") << "it waits for quota";
  EXPECT_THAT(webhook.refusal(huge, &before),
              HasSubstr("spec.workerGroupSpecs[0].template: Invalid value: the number of its pods is 4000000000, "
                        "expected a number from 0 to 2147483647"));
  EXPECT_EQ(webhook.refusal(huge, &huge), "") << "it was wrong before";
}

// A kind of somebody else's becomes elastic by one line.
TEST(ElasticRules, AnyKindMayBeElastic) {
  const auto kind = [](std::string_view more) {
    const auto read = read_job_kind(
        "apiVersion: berth.dev/v1alpha1\nkind: JobKind\nspec: {group: example.com, version: v1, kind: Wave, suspend: "
        "spec.suspend, podSets: [{name: main, template: spec.template, count: self.spec.size, countField: spec.size, "
        "minCount: 'has(self.spec.least) ? self.spec.least : 0'}], finished: 'false', active: 'false', ready: 'true'" +
            std::string(more) + "}",
        "wave.yaml");
    EXPECT_TRUE(read) << read.error().message;
    return *read;
  };
  const auto refusal = [&](std::string_view more, const Json& job) {
    const AdmissionPolicy policy;
    const api::kueue::ObjectGetter none = support::nothing;
    return api::to_string(rules_of(kind(more), true).rules.check(job, nullptr, "", {none, policy}));
  };
  const Json wave = elastic("{size: 2, template: @}");
  EXPECT_EQ(refusal("", wave),
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not supported for "
            "\"example.com/v1, Kind=Wave\"");
  EXPECT_EQ(refusal(", elastic: true", wave), "");
  EXPECT_EQ(refusal(", elastic: true", elastic("{size: 2, least: 1, template: @}")),
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: \"true\": partial admission and elastic "
            "job cannot be used together");
}

TEST(ElasticRules, WithoutTheGateAnElasticJobThatRunsKeepsItsSize) {
  const std::string why =
      "Forbidden: the size of an elastic job cannot change while it runs, because the feature gate "
      "ElasticJobsViaWorkloadSlices is not enabled: suspend the job first, or all its pods would be stopped";
  const struct {
    std::string kind, prefix, suspend;
  } cases[] = {{"RayCluster", "", ""}, {"RayJob", "rayClusterSpec", ""}, {"RayService", "rayClusterConfig", "spec"}};
  for (const auto& c : cases) {
    Webhook webhook(c.kind);
    webhook.policy.labels.elastic_jobs = false;
    webhook.policy.check_ray_upgrades = false;
    const auto ray = [&](int replicas, bool elastic, bool suspended, std::string_view more = "") {
      const std::string cluster =
          "headGroupSpec: {template: $}, workerGroupSpecs: [{groupName: w, replicas: " + std::to_string(replicas) +
          ", template: $}" + std::string(more) + "]";
      const std::string flag = std::string("suspend: ") + (suspended ? "true" : "false");
      const std::string spec =
          c.prefix.empty()    ? "{" + flag + ", " + cluster + "}"
          : c.suspend.empty() ? "{shutdownAfterJobFinishes: true, " + flag + ", " + c.prefix + ": {" + cluster + "}}"
                              : "{" + c.prefix + ": {" + flag + ", " + cluster + "}}";
      return job(spec, elastic ? "{annotations: {kueue.x-k8s.io/elastic-job: 'true'}}" : "{}");
    };
    const auto change = [&](const Json& old, const Json& now) { return webhook.refusal(now, &old); };
    EXPECT_THAT(change(ray(2, true, false), ray(4, true, false)),
                ::testing::AllOf(HasSubstr("workerGroupSpecs[0]"), HasSubstr(why)))
        << c.kind;
    EXPECT_THAT(change(ray(2, true, false), ray(1, true, false)), HasSubstr(why)) << c.kind;
    EXPECT_THAT(change(ray(2, true, false), ray(2, true, false, ", {groupName: x, replicas: 1, template: $}")),
                HasSubstr(why))
        << c.kind;
    EXPECT_EQ(change(ray(2, true, false), ray(4, true, true)), "") << c.kind << ": it stops";
    EXPECT_EQ(change(ray(2, true, true), ray(4, true, true)), "") << c.kind;
    EXPECT_EQ(change(ray(2, false, false), ray(4, false, false)), "") << c.kind << ": not elastic";
    EXPECT_THAT(change(ray(2, true, false), ray(2, false, false)),
                HasSubstr("metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: false: field is immutable"))
        << c.kind;
    webhook.policy.labels.elastic_jobs = true;
    EXPECT_EQ(change(ray(2, true, false), ray(4, true, false)), "") << c.kind;
    EXPECT_EQ(change(ray(2, true, false), ray(0, true, false)), "") << c.kind;
  }
}

}  // namespace
}  // namespace berth::jobs::kinds::elastic_rules_test
