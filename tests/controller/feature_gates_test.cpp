// Feature gates: the ones that can be set, and the errors for all others.
#include "controller/feature_gates.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::controller::feature_gates_test {
namespace {

std::string error_of(std::string_view text) {
  const auto gates = parse_feature_gates(text);
  if (!gates) return gates.error().message;
  engine::Options options;
  jobs::JobGates jobs;
  const auto applied = apply_feature_gates(*gates, options, jobs);
  return applied ? "" : applied.error().message;
}

TEST(FeatureGates, SetWhatTheyName) {
  engine::Options options;
  jobs::JobGates jobs;
  ASSERT_FALSE(options.topology.balanced_placement);
  ASSERT_TRUE(options.partial_admission && options.replace_several_nodes);
  const auto gates = parse_feature_gates(
      "TASBalancedPlacement=true,PartialAdmission=false,BerthReplaceSeveralNodes=false,"
      "FairSharingPreemptWithinNominal=false,"
      "WorkloadIdentifierAnnotations=false");
  ASSERT_TRUE(gates) << gates.error().message;
  ASSERT_TRUE(apply_feature_gates(*gates, options, jobs));
  EXPECT_TRUE(options.topology.balanced_placement);
  EXPECT_FALSE(options.partial_admission);
  EXPECT_FALSE(options.replace_several_nodes);
  EXPECT_FALSE(options.fair_preempt_within_nominal);
  EXPECT_TRUE(options.fair_prioritize_non_borrowing);
  EXPECT_TRUE(options.replace_failed_nodes) << "what is not named keeps its default";
  EXPECT_FALSE(jobs.identifier_annotations);
  EXPECT_TRUE(jobs.finish_orphaned);
}

TEST(FeatureGates, OfAManifestAreBooleans) {
  const auto gates = decode_feature_gates(Json(JsonObject{{"TASProfileMixed", false}}), "featureGates");
  ASSERT_TRUE(gates);
  EXPECT_EQ(*gates, (FeatureGates{{"TASProfileMixed", false}}));
  const auto wrong = decode_feature_gates(Json(JsonObject{{"TASProfileMixed", "no"}}), "featureGates");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "featureGates.TASProfileMixed: expected true or false, it is \"no\"");
  EXPECT_FALSE(decode_feature_gates(Json(JsonArray()), "featureGates"));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& each : not_honoured(*parse_feature_gates(text), "featureGates")) out.push_back(each.line);
  return out;
}

TEST(FeatureGates, ThatNobodyHasAreRefusedWithTheNearestName) {
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("TASBalanced=true"),
            "feature gate \"TASBalanced\": neither Kueue nor Berth has it; did you mean TASBalancedPlacement?");
  EXPECT_EQ(error_of("partialadmission=true"),
            "feature gate \"partialadmission\": neither Kueue nor Berth has it; did you mean PartialAdmission?");
  EXPECT_EQ(error_of("Xyzzy=true"), "feature gate \"Xyzzy\": neither Kueue nor Berth has it; remove it");
  EXPECT_EQ(error_of("LendingLimit=true,HierarchicalCohorts=false"), "") << "earlier releases had them";
  for (const char* text : {"PartialAdmission", "PartialAdmission=yes", "=true", "PartialAdmission=true,,"})
    EXPECT_NE(error_of(text).find("expected NAME=true or NAME=false"), std::string::npos) << text;
}

TEST(FeatureGates, ThatAreNotHonouredAreReportedWithWhatFollows) {
  const char* const reported = "MultiKueueClusterProfile=true,TopologyAwareScheduling=false";
  EXPECT_EQ(error_of(reported), "");
  EXPECT_EQ(
      lines_of(reported),
      (std::vector<std::string>{
          "featureGates.MultiKueueClusterProfile: is true, but Berth does not have it: the kubeconfig of a worker "
          "cluster comes from a Secret",
          "featureGates.TopologyAwareScheduling: is false, but is always on in Berth: flavors with "
          "`topologyName` place pods"}));
  EXPECT_EQ(lines_of("MultiKueue=false,TopologyAwareScheduling=true,ShortWorkloadNames=false,TLSOptions=true,"
                     "TASCacheTopologyTree=false,PartialAdmission=false"),
            std::vector<std::string>());
}

TEST(FeatureGates, ThatKeepJobsFromRunningUncountedStayOn) {
  EXPECT_EQ(error_of("WorkloadValidateResourcesAreNonNegative=true"), "");
  EXPECT_EQ(
      error_of("WorkloadValidateResourcesAreNonNegative=false"),
      "feature gate \"WorkloadValidateResourcesAreNonNegative\": cannot be false in Berth; leave it out: negative "
      "amounts are refused: they would buy quota");
}

TEST(FeatureGates, WaitingForPodsIsSwitchedOffByItsGate) {
  engine::Options options;
  jobs::JobGates jobs;
  ASSERT_TRUE(options.wait_for_pods_ready.enabled);
  ASSERT_TRUE(apply_feature_gates({{"VisibilityOnDemand", false}}, options, jobs)) << "the process reads it";
  ASSERT_TRUE(apply_feature_gates({{"DisableWaitForPodsReady", false}}, options, jobs));
  EXPECT_TRUE(options.wait_for_pods_ready.enabled);
  ASSERT_TRUE(apply_feature_gates({{"DisableWaitForPodsReady", true}}, options, jobs));
  EXPECT_FALSE(options.wait_for_pods_ready.enabled);
}

TEST(FeatureGates, NeedTheirParents) {
  EXPECT_NE(error_of("TASFailedNodeReplacement=false").find("needs \"TASFailedNodeReplacement\", which is off"),
            std::string::npos);
  EXPECT_EQ(error_of("TASFailedNodeReplacement=false,TASFailedNodeReplacementFailFast=false,"
                     "TASReplaceNodeOnPodTermination=false"),
            "");
}

TEST(FeatureGates, FollowTheirParentsWhereNobodyNamesThem) {
  engine::Options options;
  jobs::JobGates jobs;
  ASSERT_TRUE(options.unadmitted_observability && options.unadmitted_explicit_status);
  ASSERT_TRUE(apply_feature_gates({{"UnadmittedWorkloadsObservability", false}}, options, jobs));
  EXPECT_FALSE(options.unadmitted_observability);
  EXPECT_FALSE(options.unadmitted_explicit_status);
  EXPECT_NE(error_of("UnadmittedWorkloadsObservability=false,UnadmittedWorkloadsExplicitStatus=true")
                .find("needs \"UnadmittedWorkloadsObservability\", which is off"),
            std::string::npos);
}

TEST(FeatureGates, OfPreemption) {
  engine::Options options;
  jobs::JobGates jobs;
  ASSERT_TRUE(options.preemption_gates) << "as in Kueue 0.20";
  ASSERT_TRUE(apply_feature_gates({{"MultiKueueOrchestratedPreemption", false},
                                   {"PrioritizePreemptorWorkloads", true},
                                   {"PriorityBoost", true},
                                   {"RecomputeAssignmentUponPreemptionTargetsOverlap", false}},
                                  options, jobs));
  EXPECT_TRUE(!options.preemption_gates && options.prioritize_preemptors && options.priority_boost);
  EXPECT_FALSE(options.recompute_on_overlap);
}

TEST(FeatureGates, ChangeNothingAfterAnError) {
  engine::Options options;
  jobs::JobGates jobs;
  EXPECT_FALSE(apply_feature_gates({{"PartialAdmission", false}, {"FinishOrphanedWorkloads", false}, {"Unheard", true}},
                                   options, jobs));
  EXPECT_TRUE(options.partial_admission);
  EXPECT_TRUE(jobs.finish_orphaned);
}

}  // namespace
}  // namespace berth::controller::feature_gates_test
