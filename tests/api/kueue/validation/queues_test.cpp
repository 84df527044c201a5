#include <gtest/gtest.h>

#include "api/kueue/defaulting.h"
#include "api/kueue/validation/cluster_queue.h"
#include "api/kueue/validation/cohort.h"
#include "api/kueue/validation/resource_flavor.h"
#include "base/yaml.h"

namespace berth::api::kueue::queues_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }

struct Case {
  std::string what, spec, errors;
};

TEST(ValidateClusterQueue, Rules) {
  const Case cases[] = {
      {"an empty queue is fine", "spec: {}", ""},
      {"limits within a cohort are fine",
       "spec: {cohortName: c, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
       "[{name: cpu, nominalQuota: 4, "
       "borrowingLimit: 1, lendingLimit: 4}]}]}]}",
       ""},
      {"limits need a cohort",
       "spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, "
       "nominalQuota: 4, borrowingLimit: 1, "
       "lendingLimit: '1'}]}]}]}",
       R"([spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: 1: must be nil when cohort is empty, )"
       R"(spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: "1": must be nil when cohort is empty])"},
      {"nothing is negative",
       "spec: {cohortName: c, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
       "[{name: cpu, nominalQuota: '-1', "
       "borrowingLimit: '-2'}]}]}]}",
       R"([spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: "-1": must be greater than or equal to 0, )"
       R"(spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: "-2": must be greater than or equal to 0])"},
      {"no more is lent than there is",
       "spec: {cohortName: c, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
       "[{name: cpu, nominalQuota: 1, "
       "lendingLimit: '1001m'}]}]}]}",
       R"(spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: "1001m": must be less than or equal to the nominalQuota)"},
      {"resources come in the order in which they are covered",
       "spec: {resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: f, resources: [{name: "
       "memory, nominalQuota: 1}, {name: cpu, "
       "nominalQuota: 1}]}]}]}",
       R"([spec.resourceGroups[0].flavors[0].resources[0].name: Invalid value: "memory": must match the name in coveredResources, )"
       R"(spec.resourceGroups[0].flavors[0].resources[1].name: Invalid value: "cpu": must match the name in coveredResources])"},
      {"each resource and flavor is in one group",
       "spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, "
       "nominalQuota: 1}]}]}, "
       "{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}",
       R"([spec.resourceGroups[1].coveredResources[0]: Duplicate value: "cpu", spec.resourceGroups[1].flavors[0].name: Duplicate value: "f"])"},
      {"borrowing by preemption needs reclaiming", "spec: {preemption: {borrowWithinCohort: {policy: LowerPriority}}}",
       R"(spec.preemption: Invalid value: {"borrowWithinCohort":{"policy":"LowerPriority"}}: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never)"},
      {"a preference needs both policies to try the next flavor",
       "spec: {flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch, preference: "
       "BorrowingOverPreemption}}",
       R"(spec.flavorFungibility: Invalid value: {"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"MayStopSearch","preference":"BorrowingOverPreemption"}: )"
       R"(preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor)"},
      {"weights are 0 or more than a billionth", "spec: {fairSharing: {weight: 1n}}",
       R"(spec.fairSharing.weight: Invalid value: "1n": When not 0, Weight must be greater than 10^-9)"},
      {"weights are not negative", "spec: {fairSharing: {weight: '-1'}}",
       R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0)"},
      {"a weight of 0 is fine", "spec: {fairSharing: {weight: 0}}", ""},
      {"checks are on flavors of the queue",
       "spec: {resourceGroups: [{coveredResources: [], flavors: [{name: f}, {name: g}]}], "
       "admissionChecksStrategy: {admissionChecks: [{name: k, "
       "onFlavors: [g, h]}]}}",
       R"(spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]: Unsupported value: "h": supported values: "f", "g")"},
      {"the namespace selector is a selector",
       "spec: {namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}}",
       R"(spec.namespaceSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator)"},
  };
  for (const Case& c : cases) EXPECT_EQ(errors_of(validate_cluster_queue(object(c.spec))), c.errors) << c.what;
}

TEST(ValidateClusterQueue, TotalsAreLimited) {
  JsonArray groups;
  for (int g = 0; g < 5; ++g) {
    JsonArray covered;
    JsonArray flavors;
    for (int i = 0; i < 60; ++i) {
      covered.push_back(Json("r" + std::to_string(g * 100 + i)));
      flavors.push_back(JsonObject{{"name", "f" + std::to_string(g * 100 + i)}});
    }
    if (g > 0) covered.resize(1);
    groups.push_back(JsonObject{{"coveredResources", std::move(covered)}, {"flavors", std::move(flavors)}});
  }
  Json q;
  ensure_path(q, {"spec", "resourceGroups"}) = std::move(groups);
  EXPECT_EQ(errors_of(validate_cluster_queue(q)),
            "[spec.resourceGroups[0].flavors: Too many: 3600: must have at most 512 items, "
            "spec.resourceGroups: Too many: 300: must have at most 256 items]");
}

TEST(ValidateClusterQueue, AnUnknownFlavorOfACheckIsRefusedUntilTheQueueIsBeingDeleted) {
  Json queue = object(
      "spec: {stopPolicy: Hold, resourceGroups: [{coveredResources: [], flavors: [{name: f}]}], "
      "admissionChecksStrategy: {admissionChecks: [{name: k, onFlavors: [gone]}]}}");
  EXPECT_NE(errors_of(validate_cluster_queue(queue)), "");
  ensure_path(queue, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  EXPECT_EQ(errors_of(validate_cluster_queue(queue)), "") << "its finalizer can be removed";
}

TEST(ValidateCohort, MayLendMoreThanItsOwnButOnlyToAParent) {
  const std::string group =
      "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "
      "1, lendingLimit: 5}]}]}]";
  EXPECT_EQ(errors_of(validate_cohort(object("spec: {parentName: p, " + group + "}"))), "");
  EXPECT_EQ(errors_of(validate_cohort(object("spec: {" + group + "}"))),
            "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: 5: must be nil when "
            "cohort is empty");
  EXPECT_EQ(errors_of(validate_cohort(object("spec: {fairSharing: {weight: '-1'}}"))),
            R"(spec.fairSharing.weight: Invalid value: "-1": must be greater than or equal to 0)");
}

TEST(ValidateResourceFlavor, LabelsTaintsAndTolerations) {
  EXPECT_EQ(errors_of(validate_resource_flavor(object("spec: {nodeLabels: {a: b}, nodeTaints: [{key: t, effect: "
                                                      "NoSchedule}], tolerations: [{operator: Exists}]}"))),
            "");
  const std::string errors =
      errors_of(validate_resource_flavor(object("spec: {nodeLabels: {'a b': c}, nodeTaints: [{key: '', effect: "
                                                "NoSchedule}], tolerations: [{key: k, operator: Like}]}")));
  EXPECT_NE(errors.find("spec.nodeLabels: Invalid value: \"a b\""), std::string::npos);
  EXPECT_NE(errors.find("spec.nodeTaints[0].key: Invalid value: \"\": name part must be non-empty"), std::string::npos);
  EXPECT_NE(errors.find("spec.tolerations[0].operator: Unsupported value: \"Like\""), std::string::npos);
}

TEST(Defaulting, QueuesAndFlavorsGetTheFinalizerOnce) {
  Json q = object("metadata: {name: q}");
  default_cluster_queue(q);
  default_cluster_queue(q);
  EXPECT_EQ(to_string(q), R"({"metadata":{"name":"q","finalizers":["kueue.x-k8s.io/resource-in-use"]}})");
  Json f = object("metadata: {finalizers: [other]}");
  default_resource_flavor(f);
  EXPECT_EQ(to_string(f), R"({"metadata":{"finalizers":["other","kueue.x-k8s.io/resource-in-use"]}})");
}

TEST(Defaulting, WorkloadsNameTheirOnlyPodSetAndLoseMinCountWithoutPartialAdmission) {
  Json w = object("spec: {podSets: [{count: 3, minCount: 2}]}");
  default_workload(w, true);
  EXPECT_EQ(to_string(w), R"({"spec":{"podSets":[{"count":3,"minCount":2,"name":"main"}]}})");
  default_workload(w, false);
  EXPECT_EQ(to_string(w), R"({"spec":{"podSets":[{"count":3,"name":"main"}]}})");
  Json two = object("spec: {podSets: [{count: 1}, {name: b}]}");
  default_workload(two, true);
  EXPECT_EQ(to_string(two), R"({"spec":{"podSets":[{"count":1},{"name":"b"}]}})");
}

}  // namespace
}  // namespace berth::api::kueue::queues_test
