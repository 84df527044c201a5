#include "api/kueue/webhooks/admission.h"

#include <gtest/gtest.h>

#include "api/kueue/types.h"
#include "base/yaml.h"

namespace berth::api::kueue::admission_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

const ObjectGetter kNothing = [](const GroupVersionResource&, std::string_view, std::string_view) { return JsonPtr(); };

Json mutated(std::string_view resource, std::string_view yaml, const AdmissionPolicy& policy = {}) {
  Json out = object(yaml);
  admission_rules(resource == "jobs" ? "batch" : kGroup, resource).mutate(out, {kNothing, policy});
  return out;
}

TEST(Admission, OldVersionsGetTheSameDefaultsInTheirOwnVersion) {
  const Json queue = mutated("clusterqueues",
                             "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q}, "
                             "spec: {cohort: c}}");
  EXPECT_EQ(string_at(queue, {"apiVersion"}), "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(string_at(queue, {"spec", "cohort"}), "c");
  EXPECT_EQ(array_at(queue, {"metadata", "finalizers"}).size(), 1u);
}

TEST(Admission, OldVersionsAreJudgedAsTheNewOne) {
  const Json queue = object(
      "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q}, spec: {cohort: c, resourceGroups: "
      "["
      "{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1, borrowingLimit: "
      "1}]}]}]}}");
  const AdmissionPolicy policy;
  const AdmissionContext context{kNothing, policy};
  const auto& check = admission_rules(kGroup, "clusterqueues").check;
  // A borrowing limit requires a cohort, which has another field name in v1beta1.
  EXPECT_EQ(to_string(check(queue, nullptr, "", context)), "");
  EXPECT_EQ(to_string(check(queue, &queue, "", context)), "");
  Json alone = queue;
  erase_path(alone, {"spec", "cohort"});
  EXPECT_NE(to_string(check(alone, nullptr, "", context)), "");
  EXPECT_NE(to_string(check(alone, &queue, "", context)), "");
  EXPECT_EQ(to_string(check(alone, nullptr, "status", context)), "");
}

TEST(Admission, WhatCannotBeConvertedIsLeftAsItIs) {
  const std::string_view future = "{apiVersion: kueue.x-k8s.io/v9, kind: ClusterQueue, metadata: {name: q}}";
  EXPECT_EQ(mutated("clusterqueues", future), object(future));
}

TEST(Admission, ThePolicySaysWhichNamespacesAreManaged) {
  const std::string_view job = "{metadata: {namespace: research, labels: {kueue.x-k8s.io/queue-name: q}}}";
  EXPECT_TRUE(bool_at(mutated("jobs", job), {"spec", "suspend"}));
  EXPECT_EQ(mutated("jobs", job, {.manages_namespace = all_but_system("research")}), object(job));
  EXPECT_EQ(mutated("jobs", job, {.manages_namespace = [](std::string_view ns) { return ns == "play"; }}), object(job));
}

TEST(Admission, NamespacesAreManagedByTheirLabels) {
  const auto selector = LabelSelector::from_json(parse_json(R"({"matchLabels":{"team":"a"},"matchExpressions":[
    {"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system"]}]})")
                                                     .value())
                            .value();
  const NamespaceFilter manages = namespaces_matching(selector, [](std::string_view ns) -> JsonPtr {
    if (ns == "unknown") return nullptr;
    return std::make_shared<const Json>(
        object(ns == "other" ? "{metadata: {labels: {team: b}}}" : "{metadata: {labels: {team: a}}}"));
  });
  EXPECT_TRUE(manages("research"));
  EXPECT_FALSE(manages("kube-system")) << "the name counts though it is no label of the object";
  EXPECT_FALSE(manages("other"));
  EXPECT_FALSE(manages("unknown"));
}

TEST(Admission, JobsWithoutAQueueAreManagedWhenThePolicySaysSo) {
  const std::string_view job = "{metadata: {namespace: research}}";
  EXPECT_EQ(mutated("jobs", job), object(job));
  EXPECT_TRUE(bool_at(mutated("jobs", job, {.manage_jobs_without_queue_name = true}), {"spec", "suspend"}));
}

TEST(Admission, WithoutPartialAdmissionTheMinimumIsDropped) {
  const std::string_view workload = "{spec: {podSets: [{name: a, count: 3, minCount: 1}]}}";
  EXPECT_EQ(mutated("workloads", workload), object(workload));
  EXPECT_EQ(mutated("workloads", workload, {.partial_admission = false}),
            object("{spec: {podSets: [{name: a, count: 3}]}}"));
}

TEST(Admission, APriorityBoostHasToBeANumberWhenItsGateIsOn) {
  const auto workload = [](std::string_view boost) {
    return object("{metadata: {name: w, annotations: {kueue.x-k8s.io/priority-boost: '" + std::string(boost) + "'}}}");
  };
  const auto refusal = [&](const AdmissionPolicy& policy, const Json& now, const Json* old) {
    return to_string(admission_rules(kGroup, "workloads").check(now, old, "", {kNothing, policy}));
  };
  const AdmissionPolicy off, on{.priority_boost = true};
  const Json much = workload("much"), five = workload("-5");
  EXPECT_EQ(refusal(off, much, nullptr), "");
  EXPECT_EQ(refusal(on, five, nullptr), "");
  EXPECT_EQ(refusal(on, much, nullptr),
            "metadata.annotations[kueue.x-k8s.io/priority-boost]: Invalid value: \"much\": must be a valid "
            "signed integer");
  EXPECT_NE(refusal(on, much, &five), "");
  EXPECT_EQ(refusal(on, five, &much), "");
  EXPECT_EQ(refusal(on, much, &much), "") << "what was stored before keeps nobody from writing a status";
}

TEST(Admission, OtherKindsHaveNoRules) {
  EXPECT_FALSE(admission_rules(kGroup, "localqueues").check);
  EXPECT_FALSE(admission_rules("", "jobs").mutate);
  EXPECT_FALSE(admission_rules(kGroup, "cohorts").mutate);
}

}  // namespace
}  // namespace berth::api::kueue::admission_test
