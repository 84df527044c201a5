#include "api/kueue/validation/workload.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace berth::api::kueue::workload_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }
std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }
std::string check(std::string_view yaml) { return errors_of(validate_workload(object(yaml))); }

TEST(ValidateWorkload, Rules) {
  const struct {
    std::string what, workload, errors;
  } cases[] = {
      {"a plain one is fine",
       "spec: {podSets: [{name: main, count: 3, minCount: 2, template: {metadata: {labels: {a: b}}, spec: "
       "{containers: [{resources: {requests: {cpu: 1}}}]}}}]}",
       ""},
      {"one pod set may be reduced", "spec: {podSets: [{name: a, minCount: 1}, {name: b, minCount: 1}]}",
       "spec.podSets: Invalid value: 2: at most one podSet can use minCount"},
      {"elastic jobs are not reduced",
       "metadata: {annotations: {kueue.x-k8s.io/elastic-job: 'true'}}\nspec: {podSets: [{name: a, minCount: "
       "1}]}",
       "spec.podSets[0].minCount: Forbidden: cannot be used with an elastic job"},
      {"pods are counted, not requested",
       "spec: {podSets: [{name: a, template: {spec: {initContainers: [{resources: {requests: {pods: "
       "1}}}]}}}]}",
       R"(spec.podSets[0].template.spec.initContainers[0].resources.requests[pods]: Invalid value: "pods": the key is reserved for internal kueue use)"},
      {"requests are not negative",
       "spec: {podSets: [{name: a, template: {spec: {containers: [{}, {resources: {requests: {cpu: "
       "'-1'}}}]}}}]}",
       R"(spec.podSets[0].template.spec.containers[1].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0)"},
      {"limits have no pods either",
       "spec: {podSets: [{name: a, template: {spec: {containers: [{resources: {limits: {pods: 1}}}]}}}]}",
       R"(spec.podSets[0].template.spec.containers[0].resources.limits[pods]: Invalid value: "pods": the key is reserved for internal kueue use)"},
      {"nor are the requests of a pod negative, nor its overhead",
       "spec: {podSets: [{name: a, template: {spec: {resources: {requests: {cpu: -1}}, overhead: {cpu: '-1'}}}}]}",
       "[spec.podSets[0].template.spec.resources.requests[cpu]: Invalid value: -1: must be greater than or equal to 0, "
       R"(spec.podSets[0].template.spec.overhead[cpu]: Invalid value: "-1": must be greater than or equal to 0])"},
      {"an admission takes nothing away",
       "spec: {podSets: [{name: a}]}\nstatus: {admission: {podSetAssignments: [{name: a, resourceUsage: {cpu: "
       "'-4'}}]}}",
       R"(status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: "-4": must be greater than or equal to 0)"},
      {"nor do reclaimable pods", "spec: {podSets: [{name: a}]}\nstatus: {reclaimablePods: [{name: a, count: -1}]}",
       "status.reclaimablePods[a].count: Invalid value: -1: must be greater than or equal to 0"},
      {"slices have a topology", "spec: {podSets: [{name: a, topologyRequest: {podSetSliceSize: 2}}]}",
       "spec.podSets[0].topologyRequest.podSetSliceRequiredTopology: Required value: must be set together "
       "with podSetSliceSize"},
      {"slices have a size", "spec: {podSets: [{name: a, topologyRequest: {podSetSliceRequiredTopology: rack}}]}",
       "spec.podSets[0].topologyRequest.podSetSliceSize: Required value: must be set together with "
       "podSetSliceRequiredTopology"},
      {"sizes are positive",
       "spec: {podSets: [{name: a, topologyRequest: {podSetSliceRequiredTopology: rack, podSetSliceSize: "
       "0}}]}",
       "spec.podSets[0].topologyRequest.podSetSliceSize: Invalid value: 0: must be greater than 0"},
      {"so are those of layers",
       "spec: {podSets: [{name: a, topologyRequest: {podsetSliceRequiredTopologyConstraints: [{topology: "
       "rack, size: 0}]}}]}",
       "spec.podSets[0].topologyRequest.podsetSliceRequiredTopologyConstraints[0].size: Invalid value: 0: "
       "must be greater than 0"},
      {"one mode only", "spec: {podSets: [{name: a, topologyRequest: {required: rack, unconstrained: true}}]}",
       "spec.podSets[0].topologyRequest: Invalid value: must not contain more than one of required, preferred and "
       "unconstrained"},
      {"slices in one form",
       "spec: {podSets: [{name: a, topologyRequest: {podSetSliceRequiredTopology: rack, podSetSliceSize: 2, "
       "podsetSliceRequiredTopologyConstraints: [{topology: rack, size: 2}]}}]}",
       "[spec.podSets[0].topologyRequest.podsetSliceRequiredTopologyConstraints: Forbidden: may not be set together "
       "with "
       "podSetSliceRequiredTopology, "
       "spec.podSets[0].topologyRequest.podsetSliceRequiredTopologyConstraints: Forbidden: may not be set together "
       "with "
       "podSetSliceSize]"},
      {"places that cannot be read",
       "spec: {podSets: [{name: a}]}\nstatus: {conditions: [{type: QuotaReserved, status: 'True'}], admission: "
       "{podSetAssignments: [{name: a, count: 1, topologyAssignment: {levels: [rack], slices: [{domainCount: 2, "
       "valuesPerLevel: [{individual: {roots: [x]}}], podCounts: {universal: 1}}]}}]}}",
       "status.admission.podSetAssignments[0].topologyAssignment: Invalid value: "
       "slices[0].valuesPerLevel[0].individual."
       "roots: expected 2 strings, one for each domain, found 1"},
      {"reserved quota has an admission", "status: {conditions: [{type: QuotaReserved, status: 'True'}]}",
       "status.admission: Required value: must be set while the QuotaReserved condition is True"},
      {"assignments are those of the pod sets",
       "spec: {podSets: [{name: a}]}\nstatus: {conditions: [{type: QuotaReserved, status: 'True'}], "
       "admission: {podSetAssignments: [{name: b}, {name: a}]}}",
       R"([status.admission.podSetAssignments: Invalid value: must have the same number of podSets as the spec, )"
       R"(status.admission.podSetAssignments[0].name: Not found: "b"])"},
      {"usage divides by the count",
       "spec: {podSets: [{name: a}]}\nstatus: {conditions: [{type: QuotaReserved, status: 'True'}], "
       "admission: {podSetAssignments: [{name: a, count: 3, "
       "resourceUsage: {cpu: '3', memory: 1Gi}}]}}",
       R"(status.admission.podSetAssignments[0].resourceUsage[memory]: Invalid value: "1Gi": is not a multiple of 3)"},
      {"an amount that is too large to be counted divides by all",
       "spec: {podSets: [{name: a}]}\nstatus: {conditions: [{type: QuotaReserved, status: 'True'}], "
       "admission: {podSetAssignments: [{name: a, count: 3, resourceUsage: {memory: '9223372036854775807'}}]}}",
       ""},
      {"without reservation the admission is not judged",
       "spec: {podSets: [{name: a}]}\nstatus: {admission: {podSetAssignments: [{name: b}, {name: c}]}}", ""},
      {"reclaimable pods are of known pod sets and not more than those",
       "spec: {podSets: [{name: a, count: 2}]}\nstatus: {reclaimablePods: [{name: b, count: 1}, {name: a, "
       "count: 3}]}",
       R"([status.reclaimablePods[b].name: Unsupported value: "b": supported values: "a", )"
       R"(status.reclaimablePods[a].count: Invalid value: 3: should be less or equal to 2])"},
      {"updates are of known pod sets and well-formed",
       "spec: {podSets: [{name: a}]}\nstatus: {admissionChecks: [{name: k, podSetUpdates: [{name: b}, {name: "
       "a, tolerations: [{key: k, operator: Like}]}]}]}",
       R"([status.admissionChecks[0].podSetUpdates[0].name: Unsupported value: "b": supported values: "a", )"
       R"(status.admissionChecks[0].podSetUpdates[1].tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"])"},
  };
  for (const auto& c : cases) EXPECT_EQ(check(c.workload), c.errors) << c.what;
}

TEST(ValidateWorkload, TemplateMetadataFollowsTheRulesOfLabels) {
  EXPECT_TRUE(check("spec: {podSets: [{name: a, template: {metadata: {labels: {'a b': c}}}}]}")
                  .starts_with("spec.podSets[0].template.metadata.labels: Invalid value: \"a b\": "));
  EXPECT_TRUE(check("spec: {podSets: [{name: a, template: {metadata: {annotations: {'a b': c}}}}]}")
                  .starts_with("spec.podSets[0].template.metadata.annotations: Invalid value: \"a b\": "));
}

constexpr std::string_view kReserved =
    "spec: {queueName: l, podSets: [{name: main, count: 4}]}\n"
    "status:\n"
    "  conditions: [{type: QuotaReserved, status: 'True'}]\n"
    "  admission: {clusterQueue: q, podSetAssignments: [{name: main, count: 4, flavors: {cpu: f}, "
    "resourceUsage: {cpu: 4}}]}\n"
    "  reclaimablePods: [{name: main, count: 2}]\n"
    "  admissionChecks: [{name: k, state: Ready, podSetUpdates: [{name: main, labels: {a: b}}]}]\n";

TEST(ValidateWorkloadUpdate, WhatWasStoredBeforeDoesNotBlockTheRest) {
  const Json old = object(
      "spec: {queueName: l, podSets: [{name: a, template: {spec: {overhead: {cpu: '-100'}}}}]}\n"
      "status: {admission: {podSetAssignments: [{name: a, resourceUsage: {cpu: '-100'}}]}}");
  Json now = old;
  ensure_path(now, {"spec", "queueName"}) = "other";
  EXPECT_EQ(errors_of(validate_workload_update(now, old)), "");
  ensure_path(now, {"spec"}).at("podSets").at(0).as_object()["count"] = 2;
  EXPECT_EQ(errors_of(validate_workload_update(now, old)),
            "spec.podSets[0].template.spec.overhead[cpu]: Invalid value: \"-100\": must be greater than or equal to 0");
}

struct Change {
  std::string what;
  std::function<void(Json&)> apply;
  std::string errors;
};

TEST(ValidateWorkloadUpdate, WhileQuotaIsReserved) {
  const Json old = object(kReserved);
  const Change changes[] = {
      {"nothing", [](Json&) {}, ""},
      {"a pod set", [](Json& w) { ensure_path(w, {"spec"}).at("podSets").at(0).as_object()["count"] = 3; },
       R"(spec.podSets: Invalid value: [{"name":"main","count":3}]: field is immutable)"},
      {"the admitted flavor",
       [](Json& w) {
         ensure_path(w, {"status", "admission"}).at("podSetAssignments").at(0).at("flavors").as_object()["cpu"] = "g";
       },
       R"(status.admission: Invalid value: {"clusterQueue":"q","podSetAssignments":[{"name":"main","count":4,"flavors":{"cpu":"g"},"resourceUsage":{"cpu":4}}]}: field is immutable)"},
      {"the notation of an amount",
       [](Json& w) {
         ensure_path(w, {"status", "admission"}).at("podSetAssignments").at(0).at("resourceUsage").as_object()["cpu"] =
             "4000m";
       },
       ""},
      {"an amount",
       [](Json& w) {
         ensure_path(w, {"status", "admission"}).at("podSetAssignments").at(0).at("resourceUsage").as_object()["cpu"] =
             "8";
       },
       R"(status.admission: Invalid value: {"clusterQueue":"q","podSetAssignments":[{"name":"main","count":4,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"8"}}]}: field is immutable)"},
      {"where the pods go",
       [](Json& w) {
         JsonObject& assignment = ensure_path(w, {"status", "admission"}).at("podSetAssignments").at(0).as_object();
         assignment["topologyAssignment"] = JsonObject{{"levels", JsonArray{"rack"}}};
         assignment["delayedTopologyRequest"] = "Ready";
       },
       ""},
      {"the reservation itself",
       [](Json& w) {
         erase_path(w, {"status", "admission"});
         ensure_path(w, {"status", "conditions"}).at(0).as_object()["status"] = "False";
         erase_path(w, {"status", "reclaimablePods"});
       },
       ""},
      {"fewer reclaimable pods",
       [](Json& w) { ensure_path(w, {"status", "reclaimablePods"}).at(0).as_object()["count"] = 1; },
       "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2"},
      {"no reclaimable pods", [](Json& w) { erase_path(w, {"status", "reclaimablePods"}); },
       "status.reclaimablePods[main]: Required value: cannot be removed"},
      {"more reclaimable pods",
       [](Json& w) { ensure_path(w, {"status", "reclaimablePods"}).at(0).as_object()["count"] = 3; }, ""},
      {"updates of a check that is ready",
       [](Json& w) {
         ensure_path(w, {"status", "admissionChecks"}).at(0).at("podSetUpdates").at(0).at("labels").as_object()["a"] =
             "c";
       },
       R"(status.admissionChecks[0].podSetUpdates: Invalid value: [{"name":"main","labels":{"a":"c"}}]: field is immutable)"},
      {"updates of a check that is no longer ready",
       [](Json& w) {
         JsonObject& state = ensure_path(w, {"status", "admissionChecks"}).at(0).as_object();
         state["state"] = "Pending";
         state.erase("podSetUpdates");
       },
       ""},
  };
  for (const Change& change : changes) {
    Json now = old;
    change.apply(now);
    EXPECT_EQ(errors_of(validate_workload_update(now, old)), change.errors) << change.what;
  }
}

TEST(ValidateWorkloadUpdate, ElasticJobsMayShrinkButNotGrow) {
  Json old = object(kReserved);
  ensure_path(old, {"metadata", "annotations", "kueue.x-k8s.io/elastic-job"}) = "true";
  ensure_path(old, {"status", "reclaimablePods"}) = JsonArray();
  Json now = old;
  now.at("spec").at("podSets").at(0).as_object()["count"] = 3;
  EXPECT_EQ(errors_of(validate_workload_update(now, old)), "");
  now.at("spec").at("podSets").at(0).as_object()["count"] = 5;
  EXPECT_NE(errors_of(validate_workload_update(now, old)), "");
  now.at("spec").at("podSets").at(0).as_object()["count"] = 3;
  now.at("spec").at("podSets").at(0).as_object()["name"] = "other";
  EXPECT_NE(errors_of(validate_workload_update(now, old)), "");
}

TEST(ValidateWorkloadUpdate, WithoutReservationPodSetsChange) {
  const Json old = object("spec: {podSets: [{name: main, count: 4}]}");
  EXPECT_EQ(errors_of(validate_workload_update(object("spec: {podSets: [{name: main, count: 5}]}"), old)), "");
}

TEST(ValidateWorkloadUpdate, TheClusterIsOneOfTheNominated) {
  const Json old = object("status: {nominatedClusterNames: [a, b]}");
  EXPECT_EQ(errors_of(validate_workload_update(object("status: {clusterName: b}"), old)), "");
  EXPECT_EQ(errors_of(validate_workload_update(object("status: {clusterName: c}"), old)),
            R"(status.clusterName: Invalid value: "c": must be one of the nominatedClusterNames)");
  EXPECT_EQ(errors_of(validate_workload_update(
                object("metadata: {annotations: {kueue.x-k8s.io/workload-slice-replacement-for: "
                       "n/w}}\nstatus: {clusterName: c}"),
                old)),
            "");
}

}  // namespace
}  // namespace berth::api::kueue::workload_test
