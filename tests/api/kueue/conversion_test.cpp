#include "api/kueue/conversion.h"

#include <gtest/gtest.h>

#include <random>

#include "base/yaml.h"
#include "support/sanitized.h"

namespace berth::api::kueue::conversion_test {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text).value().at(0); }

std::string converted(std::string_view text, std::string_view version) {
  Json object = yaml(text);
  const auto done = convert(object, version);
  return done ? canonical_json(object) : done.error().message;
}
std::string same(std::string_view text) { return canonical_json(yaml(text)); }

TEST(Conversion, ClusterQueue) {
  EXPECT_EQ(converted(R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  cohort: all
  admissionChecks: [a, b]
  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}
  stopPolicy: None
status: {pendingWorkloads: 3, pendingWorkloadsStatus: {clusterQueuePendingWorkload: []}, fairSharing: {weightedShare: 1, admissionFairSharingStatus: {}}}
)",
                      "v1beta2"),
            same(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  cohortName: all
  admissionChecksStrategy: {admissionChecks: [{name: a}, {name: b}]}
  flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}
  stopPolicy: None
status: {pendingWorkloads: 3, fairSharing: {weightedShare: 1}}
)"));
  EXPECT_EQ(converted("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, spec: {cohortName: c, "
                      "concurrentAdmissionPolicy: {}}}",
                      "v1beta1"),
            same("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, spec: {cohort: c}}"));
}

TEST(Conversion, Workload) {
  const std::string_view old_form = R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: n}
spec: {priorityClassName: high, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass, podSets: [{name: main, count: 2}]}
status:
  accumulatedPastExexcutionTimeSeconds: 7
  admission:
    clusterQueue: q
    podSetAssignments:
    - name: main
      topologyAssignment:
        levels: [rack, kubernetes.io/hostname]
        domains: [{values: [r1, n-1], count: 1}, {values: [r1, n-2], count: 1}]
)";
  const std::string_view new_form = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: n}
spec: {priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: high}, podSets: [{name: main, count: 2}]}
status:
  accumulatedPastExecutionTimeSeconds: 7
  admission:
    clusterQueue: q
    podSetAssignments:
    - name: main
      topologyAssignment:
        levels: [rack, kubernetes.io/hostname]
        slices:
        - domainCount: 2
          valuesPerLevel: [{universal: r1}, {individual: {prefix: n-, roots: ["1", "2"]}}]
          podCounts: {universal: 1}
)";
  EXPECT_EQ(converted(old_form, "v1beta2"), same(new_form));
  EXPECT_EQ(converted(new_form, "v1beta1"), same(old_form));
  EXPECT_EQ(converted(new_form, "v1beta2"), same(new_form)) << "nothing to do";
}

TEST(Conversion, ErrorsNameTheObjectAndTheField) {
  EXPECT_EQ(
      converted(
          "{apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: w, namespace: n}, status: {admission: "
          "{podSetAssignments: [{topologyAssignment: {levels: [a, b], domains: [{values: [x], count: 1}]}}]}}}",
          "v1beta2"),
      "Workload n/w: status.admission.podSetAssignments[0].topologyAssignment.domains.values: expected one value for "
      "each level");
  EXPECT_EQ(converted("{apiVersion: kueue.x-k8s.io/v1alpha1, kind: Cohort, metadata: {name: c}}", "v1beta2"),
            "Cohort c: cannot convert from kueue.x-k8s.io/v1alpha1 to kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(converted("{apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort, metadata: {name: c}}", "v2"),
            "Cohort c: cannot convert from kueue.x-k8s.io/v1beta1 to kueue.x-k8s.io/v2");
}

// --- Random objects, each built together with the object that is expected after the way there and back.

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  struct Pair {
    Json object, expected;
  };
  Pair make(bool old) {
    static constexpr std::string_view kKinds[] = {"ClusterQueue",   "Workload",          "LocalQueue",
                                                  "Cohort",         "MultiKueueCluster", "MultiKueueConfig",
                                                  "AdmissionCheck", "Topology"};
    const std::string kind(kKinds[below(std::size(kKinds))]);
    pair_ = {};
    both({"apiVersion"}, old ? "kueue.x-k8s.io/v1beta1" : "kueue.x-k8s.io/v1beta2");
    both({"kind"}, Json(kind));
    both({"metadata", "name"}, Json("x" + std::to_string(below(100))));
    maybe([&] { both({"metadata", "labels", "a"}, "b"); });
    maybe([&] { both({"spec", "somethingNew"}, static_cast<std::int64_t>(below(9))); });
    maybe([&] { both({"status", "conditions"}, JsonArray{JsonObject{{"type", "Active"}}}); });
    if (kind == "ClusterQueue") cluster_queue(old);
    if (kind == "Workload") workload(old);
    if (kind == "LocalQueue") local_queue(old);
    if (kind == "Cohort") cohort(old);
    if (kind == "MultiKueueCluster") multi_kueue_cluster(old);
    if (kind == "MultiKueueConfig" && !old) maybe([&] { lost({"spec", "quotaManagement"}, "Manual"); });
    if (kind == "AdmissionCheck" && old) maybe([&] { lost({"spec", "retryDelayMinutes"}, 3); });
    return pair_;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  template <typename F>
  void maybe(F f) {
    if (below(2) == 0) f();
  }
  void both(std::initializer_list<std::string_view> path, Json value) {
    ensure_path(pair_.expected, path) = value;
    ensure_path(pair_.object, path) = std::move(value);
  }
  // Adds a field that is lost on the way; its parent is expected to stay.
  void lost(std::initializer_list<std::string_view> path, Json value) {
    ensure_path(pair_.object, path) = std::move(value);
    const bool there = find_path(pair_.expected, path) != nullptr;
    ensure_path(pair_.expected, path);
    if (!there) erase_path(pair_.expected, path);
  }
  void fair_share(bool old) {
    maybe([&] {
      both({"status", "fairSharing", "weightedShare"}, static_cast<std::int64_t>(below(1000)));
      if (old) maybe([&] { lost({"status", "fairSharing", "admissionFairSharingStatus"}, JsonObject()); });
    });
  }

  void cluster_queue(bool old) {
    maybe([&] { both({"spec", old ? "cohort" : "cohortName"}, Json("c" + std::to_string(below(5)))); });
    maybe([&] {
      const char* policy = below(2) ? "MayStopSearch" : "TryNextFlavor";
      both({"spec", "flavorFungibility", "whenCanBorrow"}, policy);
      if (old && below(3) == 0) {
        lost({"spec", "flavorFungibility", "whenCanBorrow"}, "Borrow");
        ensure_path(pair_.expected, {"spec", "flavorFungibility", "whenCanBorrow"}) = "MayStopSearch";
      }
    });
    maybe([&] {
      JsonArray names, rules;
      for (std::size_t i = 0; i <= below(3); ++i) {
        names.emplace_back("check" + std::to_string(i));
        rules.push_back(JsonObject{{"name", "check" + std::to_string(i)}});
      }
      ensure_path(pair_.expected, {"spec", "admissionChecksStrategy", "admissionChecks"}) = rules;
      if (old && below(2)) return lost({"spec", "admissionChecks"}, std::move(names));
      lost({"spec", "admissionChecksStrategy", "admissionChecks"}, std::move(rules));
    });
    if (old) {
      maybe([&] {
        both({"status", "pendingWorkloads"}, 1);
        lost({"status", "pendingWorkloadsStatus"}, JsonObject());
      });
    } else {
      maybe([&] {
        both({"spec", "stopPolicy"}, "None");
        lost({"spec", "concurrentAdmissionPolicy"}, JsonObject());
      });
    }
    fair_share(old);
  }

  void cohort(bool old) { fair_share(old); }

  void local_queue(bool old) {
    maybe([&] { both({"status", old ? "flavorUsage" : "flavorsUsage"}, JsonArray{JsonObject{{"name", "f"}}}); });
    if (old) {
      maybe([&] {
        both({"status", "pendingWorkloads"}, 1);
        lost({"status", "flavors"}, JsonArray{});
      });
    }
  }

  void multi_kueue_cluster(bool old) {
    const bool profile = below(2) == 0;
    const Json source =
        profile ? Json(JsonObject{{"name", "p"}}) : Json(JsonObject{{"location", "l"}, {"locationType", "Secret"}});
    const char* field = profile ? "clusterProfileRef" : "kubeConfig";
    if (old) {
      both({"spec", field}, source);
    } else {
      both({"spec", "clusterSource", field}, source);
    }
  }

  void workload(bool old) {
    maybe([&] { both({"spec", "priority"}, static_cast<std::int64_t>(below(100))); });
    maybe([&] {
      const bool own = below(2) == 0;
      if (old) {
        both({"spec", "priorityClassName"}, "high");
        both({"spec", "priorityClassSource"},
             own ? "kueue.x-k8s.io/workloadpriorityclass" : "scheduling.k8s.io/priorityclass");
      } else {
        both({"spec", "priorityClassRef"}, JsonObject{{"group", own ? "kueue.x-k8s.io" : "scheduling.k8s.io"},
                                                      {"kind", own ? "WorkloadPriorityClass" : "PriorityClass"},
                                                      {"name", "high"}});
      }
    });
    maybe([&] {
      both({"status", old ? "accumulatedPastExexcutionTimeSeconds" : "accumulatedPastExecutionTimeSeconds"}, 5);
    });
    maybe([&] {
      JsonObject pod_set{{"name", "main"}, {"topologyRequest", JsonObject{{"required", "rack"}}}};
      both({"spec", "podSets"}, JsonArray{pod_set});
      if (!old) {
        pod_set["topologyRequest"].as_object()["podsetSliceRequiredTopologyConstraints"] = JsonArray{};
        lost({"spec", "podSets"}, JsonArray{pod_set});
      }
    });
    if (!old) {
      maybe([&] {
        both({"status", "clusterName"}, "c");
        lost({"status", "preemptionGates"}, JsonArray{});
      });
    }
    maybe([&] { admission(old); });
  }

  // Random domains. The v1beta2 form is the encoder's output, because an equivalent form would not come back
  // unchanged.
  void admission(bool old) {
    JsonArray levels{"rack", "kubernetes.io/hostname"}, domains;
    for (std::size_t i = 0; i <= below(6); ++i) {
      domains.push_back(
          JsonObject{{"values", JsonArray{"r" + std::to_string(below(2)), "node-" + std::to_string(i * 7)}},
                     {"count", static_cast<std::int64_t>(1 + below(3))}});
    }
    Json holder = JsonObject{
        {"apiVersion", "kueue.x-k8s.io/v1beta1"},
        {"kind", "Workload"},
        {"status",
         JsonObject{{"admission",
                     JsonObject{{"clusterQueue", "q"},
                                {"podSetAssignments",
                                 JsonArray{JsonObject{{"name", "main"},
                                                      {"topologyAssignment",
                                                       JsonObject{{"levels", levels}, {"domains", domains}}}}}}}}}}};
    if (!old) {
      ASSERT_TRUE(convert(holder, "v1beta2"));
    }
    both({"status", "admission"}, *find_path(holder, {"status", "admission"}));
  }

  std::mt19937 random_;
  Pair pair_;
};

TEST(Conversion, ThereAndBackLosesOnlyWhatIsListed) {
  Maker maker(20261121);
  for (int i = 0; i < 100'000 / testing_support::kFewer; ++i) {
    const bool old = i % 2 == 0;
    auto [object, expected] = maker.make(old);
    const std::string before = to_string(object);
    ASSERT_TRUE(convert(object, old ? "v1beta2" : "v1beta1")) << before;
    ASSERT_TRUE(convert(object, old ? "v1beta1" : "v1beta2")) << before;
    ASSERT_TRUE(json_equal(object, expected))
        << "was " << before << "\ngot " << to_string(object) << "\nnot " << to_string(expected);
  }
}

}  // namespace
}  // namespace berth::api::kueue::conversion_test
