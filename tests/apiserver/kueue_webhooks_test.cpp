#include "apiserver/kueue_webhooks.h"

#include <gtest/gtest.h>

#include <map>

#include "base/yaml.h"

namespace berth::apiserver {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

class KueueWebhooks : public testing::Test {
 protected:
  KueueWebhooks() {
    lookup.get = [this](const api::GroupVersionResource& what, std::string_view ns,
                        std::string_view name) -> JsonPtr {
      const auto it = objects.find(what.resource + "/" + std::string(ns) + "/" + std::string(name));
      return it == objects.end() ? nullptr : it->second;
    };
  }
  static ResourceInfo resource(std::string group, std::string version, std::string plural) {
    auto info = std::make_shared<ResourceInfo>();
    info->gvr = {std::move(group), std::move(version), std::move(plural)};
    return *with_kueue_webhooks(info);
  }
  void put(const std::string& key, std::string_view yaml) {
    objects[key] = std::make_shared<const Json>(object(yaml));
  }
  Json admitted_job(std::string_view yaml) {
    Json job = object(yaml);
    jobs.strategy.prepare_create(job, lookup);
    return job;
  }

  std::map<std::string, JsonPtr> objects;
  Lookup lookup;
  ResourceInfo jobs = resource("batch", "v1", "jobs");
};

TEST_F(KueueWebhooks, ReviewsKueuesKinds) {
  const struct {
    std::string plural, yaml, errors;
  } cases[] = {
      {"clusterqueues", "spec: {fairSharing: {weight: '-1'}}",
       R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0)"},
      {"cohorts", "spec: {fairSharing: {weight: '-1'}}",
       R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0)"},
      {"resourceflavors", "spec: {tolerations: [{key: k, operator: Like}]}",
       R"(spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists")"},
      {"workloads", "spec: {podSets: [{name: a, minCount: 1}, {name: b, minCount: 1}]}",
       "spec.podSets: Invalid value: 2: at most one podSet can use minCount"},
  };
  for (const auto& c : cases) {
    const ResourceInfo info = resource("kueue.x-k8s.io", "v1beta2", c.plural);
    const Json bad = object(c.yaml);
    const Json good = object("spec: {}");
    EXPECT_EQ(api::to_string(info.strategy.validating_admission(bad, nullptr, "", lookup)), c.errors);
    EXPECT_EQ(api::to_string(info.strategy.validating_admission(bad, &good, "", lookup)), c.errors);
    EXPECT_TRUE(info.strategy.validating_admission(good, nullptr, "", lookup).empty());
  }
}

TEST_F(KueueWebhooks, LeavesOtherKindsAlone) {
  EXPECT_FALSE(resource("kueue.x-k8s.io", "v1beta2", "localqueues").strategy.validating_admission);
  EXPECT_FALSE(resource("example.com", "v1", "clusterqueues").strategy.validating_admission);
  EXPECT_FALSE(resource("batch", "v1", "cronjobs").strategy.prepare_create);
}

TEST_F(KueueWebhooks, JobsWithAQueueStartSuspended) {
  EXPECT_TRUE(bool_at(admitted_job("metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}"),
                      {"spec", "suspend"}));
  EXPECT_FALSE(find_path(admitted_job("metadata: {namespace: a}"), {"spec", "suspend"}));
  EXPECT_FALSE(
      find_path(admitted_job("metadata: {namespace: kube-system, labels: {kueue.x-k8s.io/queue-name: q}}"),
                {"spec", "suspend"}));
}

TEST_F(KueueWebhooks, JobsTakeTheDefaultQueueAndPriorityClass) {
  put("localqueues/a/default", "{}");
  put("workloadpriorityclasses//default", "{}");
  const Json job = admitted_job("metadata: {namespace: a}");
  EXPECT_EQ(
      to_string(job),
      R"({"metadata":{"namespace":"a","labels":{"kueue.x-k8s.io/queue-name":"default","kueue.x-k8s.io/priority-class":"default"}},"spec":{"suspend":true}})");
  EXPECT_FALSE(find_path(admitted_job("metadata: {namespace: b}"), {"metadata", "labels"}));
  EXPECT_EQ(api::to_string(jobs.strategy.validating_admission(
                object("metadata: {namespace: a}\nspec: {suspend: true}"), &job, "", lookup)),
            "[metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": cannot be removed: the "
            "namespace has a default LocalQueue, "
            "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"\": cannot be removed]");
}

TEST_F(KueueWebhooks, JobsOfManagedJobsAreLeftToThem) {
  put("localqueues/a/default", "{}");
  put("jobs/a/grandparent", "metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}");
  put("jobs/a/parent",
      "metadata: {namespace: a, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: grandparent, "
      "controller: true}]}");
  const std::string child =
      "metadata: {namespace: a, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: parent, "
      "controller: true}]}";
  EXPECT_TRUE(json_equal(admitted_job(child), object(child)));
  // Jobs that own each other in a circle are nobody's.
  put("jobs/a/parent", child);
  EXPECT_TRUE(bool_at(admitted_job(child), {"spec", "suspend"}));
}

TEST_F(KueueWebhooks, ARunningJobKeepsItsQueue) {
  const Json job =
      object("metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {suspend: false}");
  const Json without = object("metadata: {namespace: a}\nspec: {suspend: false}");
  EXPECT_EQ(api::to_string(jobs.strategy.validating_admission(without, &job, "", lookup)),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": field is immutable");
  // Without a queue, labels of Kueue mean nothing.
  EXPECT_TRUE(jobs.strategy
                  .validating_admission(
                      object("metadata: {namespace: a, labels: {kueue.x-k8s.io/max-exec-time-seconds: x}}"),
                      nullptr, "", lookup)
                  .empty());
}

TEST_F(KueueWebhooks, JobsThatAskForPlacesNobodyCouldGiveAreRefused) {
  const Json job = object(R"(
metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  parallelism: 5
  template: {metadata: {annotations: {
    kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-slice-required-topology: rack,
    kueue.x-k8s.io/podset-slice-size: "2"}}}
)");
  EXPECT_EQ(api::to_string(jobs.strategy.validating_admission(job, nullptr, "", lookup)),
            "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid value: \"2\": must divide pod "
            "set count 5: 1 pod(s) would be left without a whole slice");
}

TEST_F(KueueWebhooks, KindsGetTheirFinalizers) {
  for (const std::string plural : {"clusterqueues", "resourceflavors"}) {
    Json q = object("metadata: {name: q}");
    resource("kueue.x-k8s.io", "v1beta2", plural).strategy.prepare_create(q, lookup);
    EXPECT_EQ(array_at(q, {"metadata", "finalizers"}).size(), 1u);
  }
}

TEST_F(KueueWebhooks, JobStatusIsNotReviewed) {
  const Json job = object("metadata: {namespace: a, labels: {kueue.x-k8s.io/queue-name: A_b}}");
  EXPECT_FALSE(jobs.strategy.validating_admission(job, nullptr, "", lookup).empty());
  EXPECT_TRUE(jobs.strategy.validating_admission(job, &job, "status", lookup).empty());
}

}  // namespace
}  // namespace berth::apiserver
