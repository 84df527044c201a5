// Kueue's Configuration converted to options of the controller.
#include "controller/configure.h"

#include <gtest/gtest.h>

namespace berth::controller::configure_test {
namespace {

using namespace std::chrono_literals;

Result<ControllerOptions> options_of(const std::string& fields, const FeatureGates& command_line = {}) {
  auto read = api::config::read_configuration(
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + fields, "config.yaml");
  if (!read) return tl::unexpected(read.error());
  return controller_options(*read, command_line);
}

TEST(Configure, AnEmptyFileChangesNothing) {
  const auto from_file = options_of("");
  const ControllerOptions plain;
  ASSERT_TRUE(from_file) << from_file.error().message;
  EXPECT_EQ(from_file->engine.wait_for_pods_ready, plain.engine.wait_for_pods_ready);
  EXPECT_EQ(from_file->engine.retention, plain.engine.retention);
  EXPECT_EQ(from_file->engine.resources, plain.engine.resources);
  EXPECT_EQ(from_file->engine.fair_sharing, plain.engine.fair_sharing);
  EXPECT_EQ(from_file->ownerless_workloads, plain.ownerless_workloads);
  EXPECT_EQ(from_file->volcano, plain.volcano);
  EXPECT_EQ(from_file->manage_jobs_without_queue_name, plain.manage_jobs_without_queue_name);
  for (const char* ns : {"default", "kube-system", "kueue-system"}) {
    const JsonObject labels{{"kubernetes.io/metadata.name", ns}};
    EXPECT_EQ(from_file->managed_namespaces.matches(labels), plain.managed_namespaces.matches(labels)) << ns;
  }
}

TEST(Configure, FieldsReachTheirOptions) {
  const auto o = options_of(R"(
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector: {matchLabels: {team: a}}
integrations: {frameworks: [batch/job, pod, deployment, statefulset], labelKeysToCopy: [team]}
waitForPodsReady: {timeout: 1m, blockAdmission: true}
objectRetentionPolicies: {workloads: {afterFinished: 2m}}
resources: {excludeResourcePrefixes: [x]}
fairSharing: {preemptionStrategies: [LessThanInitialShare]}
featureGates: {PartialAdmission: false}
volcano: {flavor: spot, admission: {cycleCheck: false}}
)");
  ASSERT_TRUE(o) << o.error().message;
  EXPECT_TRUE(o->manage_jobs_without_queue_name);
  EXPECT_TRUE(o->managed_namespaces.matches({{"team", "a"}}));
  EXPECT_FALSE(o->managed_namespaces.matches({}));
  EXPECT_TRUE(o->manage_pods);
  EXPECT_TRUE(admission_policy(*o).manage_pods);
  EXPECT_FALSE(options_of("")->manage_pods);
  for (const bool listed : {true, false}) {
    const auto options = listed ? *o : *options_of("");
    EXPECT_EQ(options.manage_deployments, listed);
    EXPECT_EQ(options.manage_stateful_sets, listed);
    EXPECT_EQ(admission_policy(options).manage_deployments, listed);
    EXPECT_EQ(admission_policy(options).manage_stateful_sets, listed);
  }
  EXPECT_EQ(o->label_keys_to_copy, std::vector<std::string>{"team"});
  const auto labelled = options_of(R"(
integrations: {labelKeysToCopy: [team]}
featureGates: {CustomMetricLabels: true}
metrics: {customLabels: [{name: site}, {name: team, sourceKind: Workload, trackedValues: [a]},
  {name: budget, sourceAnnotationKey: b, sourceKind: Workload, trackedValues: ['7']}]}
)");
  ASSERT_TRUE(labelled) << labelled.error().message;
  EXPECT_EQ(labelled->label_keys_to_copy, std::vector<std::string>{"team"}) << "once, and none of other kinds";
  EXPECT_EQ(labelled->annotation_keys_to_copy, std::vector<std::string>{"b"});
  EXPECT_EQ(o->engine.wait_for_pods_ready.timeout, 1min);
  EXPECT_FALSE(o->engine.wait_for_pods_ready.times_of_workloads);
  EXPECT_TRUE(o->engine.wait_for_pods_ready.block_admission);
  EXPECT_EQ(o->engine.retention.after_finished, 2min);
  EXPECT_EQ(o->engine.resources.exclude_prefixes, std::vector<std::string>{"x"});
  EXPECT_EQ(o->engine.fair_sharing, (api::config::FairSharing{true, false, true}));
  EXPECT_FALSE(o->engine.partial_admission);
  EXPECT_EQ(o->volcano.tree.flavor, "spot");
  EXPECT_FALSE(o->volcano.admission.refuse_circles);
}

// KEP-4803.
TEST(Configure, TimesOfWorkloadsNeedTheirGateAndNotTheOneThatSwitchesAllOff) {
  const std::string limit = "waitForPodsReady: {maxTimeoutOnWorkload: 10m}\n";
  const auto on = options_of(limit + "featureGates: {WorkloadLevelWaitForPodsReady: true}");
  ASSERT_TRUE(on) << on.error().message;
  EXPECT_TRUE(on->engine.wait_for_pods_ready.times_of_workloads);
  EXPECT_TRUE(on->jobs.ready_times);
  EXPECT_TRUE(on->not_honoured.empty());
  EXPECT_EQ(admission_policy(*on).labels.longest_ready_time, std::optional<Duration>(10min));
  const auto none =
      options_of(limit + "featureGates: {WorkloadLevelWaitForPodsReady: true, DisableWaitForPodsReady: true}");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->engine.wait_for_pods_ready.times_of_workloads);
  const auto off = options_of(limit);
  ASSERT_TRUE(off) << off.error().message;
  EXPECT_EQ(admission_policy(*off).labels.longest_ready_time, std::nullopt);
  ASSERT_EQ(off->not_honoured.size(), 1u);
  EXPECT_EQ(off->not_honoured[0].setting, "waitForPodsReady.maxTimeoutOnWorkload");
}

// KEP-13502, "Feature gate".
TEST(Configure, ATimeoutForUnscheduledPodsNeedsItsGate) {
  const std::string gate = "WaitForPodsReadyUnscheduledTimeout: true";
  const auto with = [](const std::string& timeout, const std::string& gates) {
    return options_of("waitForPodsReady: {timeout: 5m" + timeout + "}\nfeatureGates: {" + gates + "}\n");
  };
  const auto on = with(", unscheduledTimeout: 1m", gate);
  ASSERT_TRUE(on) << on.error().message;
  EXPECT_TRUE(on->engine.wait_for_pods_ready.limits_scheduling());
  EXPECT_TRUE(on->not_honoured.empty());
  for (const std::string none : {"", ", unscheduledTimeout: 0s"}) {
    const auto off = with(none, gate);
    ASSERT_TRUE(off) << off.error().message;
    EXPECT_FALSE(off->engine.wait_for_pods_ready.limits_scheduling());
  }
  for (const std::string any : {", unscheduledTimeout: 1m", ", unscheduledTimeout: 0s"}) {
    const auto refused = with(any, "");
    ASSERT_FALSE(refused) << any;
    EXPECT_THAT(refused.error().message,
                testing::HasSubstr("needs the feature gate WaitForPodsReadyUnscheduledTimeout"));
  }
  const auto both = with("", gate + ", DisableWaitForPodsReady: true");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, testing::HasSubstr("both are true"));
}

TEST(Configure, GatesComeFromOneSide) {
  EXPECT_FALSE(options_of("", {{"PartialAdmission", false}})->engine.partial_admission);
  const auto both = options_of("featureGates: {PartialAdmission: false}", {{"FlavorFungibility", false}});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().message,
            "featureGates: given in the Configuration file and on the command line (--feature-gates); use one of them");
  const auto unknown = options_of("featureGates: {Partial: true}");
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().message.starts_with("featureGates.Partial: ")) << unknown.error().message;
  const auto unknown_flag = options_of("", {{"Partial", true}});
  ASSERT_FALSE(unknown_flag);
  EXPECT_TRUE(unknown_flag.error().message.starts_with("feature gate \"Partial\": ")) << unknown_flag.error().message;
}

}  // namespace
}  // namespace berth::controller::configure_test
