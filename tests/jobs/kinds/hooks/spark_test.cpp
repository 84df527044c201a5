// SparkApplication: the templates that its fields mean, and what starting writes to them.
#include "jobs/kinds/hooks/spark_pods.h"

#include <gmock/gmock.h>

#include "jobs/kinds/hooks/support.h"

namespace berth::jobs::kinds::spark_test {
namespace {

using support::job_of;
using support::yaml;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json application(std::string_view driver, std::string_view executor, std::string_view more = "{}") {
  Json spec = yaml(more);
  spec.as_object()["driver"] = yaml(driver);
  spec.as_object()["executor"] = yaml(executor);
  spec.as_object()["suspend"] = true;
  return JsonObject{{"metadata", JsonObject{{"name", "a"}}}, {"spec", std::move(spec)}};
}

std::string amounts(const Json& job, std::size_t pod_set) {
  const auto pod_sets = job_of("SparkApplication").pod_sets(job);
  return canonical_json(*find(array_at(*pod_sets.at(pod_set).template_, {"spec", "containers"})[0], "resources"));
}

TEST(Spark, FieldsBecomeTemplates) {
  const Json job = application("{coreRequest: 500m, memory: 1g, memoryOverhead: 512m, priorityClassName: high}",
                               "{cores: 2, coreLimit: '3', memory: 8g, memoryLimit: 10g, instances: 4, gpu: {name: "
                               "nvidia.com/gpu, quantity: 2}}");
  EXPECT_THAT(support::names_and_counts(job_of("SparkApplication").pod_sets(job)),
              ElementsAre("driver 1", "executor 4"));
  EXPECT_EQ(amounts(job, 0), R"({"requests":{"cpu":"500m","memory":"1536Mi"}})");
  EXPECT_EQ(amounts(job, 1),
            R"({"limits":{"cpu":"3","memory":"10Gi","nvidia.com/gpu":"2"},"requests":{"cpu":"2","memory":"9011Mi"}})");
  EXPECT_EQ(job_of("SparkApplication").priority_class(job), "high");
}

TEST(Spark, AFailedSubmissionIsNoEndWhileItIsTriedAgain) {
  const auto ended = [](std::string_view policy, std::string_view state) {
    Json job = application("{}", "{}", policy);
    ensure_path(job, {"status", "applicationState", "state"}) = state;
    return job_of("SparkApplication").finished(job).has_value();
  };
  constexpr std::string_view kRetries = "{restartPolicy: {type: OnFailure, onSubmissionFailureRetries: 3}}";
  EXPECT_FALSE(ended(kRetries, "SUBMISSION_FAILED"));
  EXPECT_TRUE(ended(kRetries, "FAILED"));
  EXPECT_TRUE(ended("{}", "SUBMISSION_FAILED"));
  EXPECT_TRUE(ended("{restartPolicy: {type: Never, onSubmissionFailureRetries: 3}}", "SUBMISSION_FAILED"));
}

TEST(Spark, DefaultsAreThoseOfSpark) {
  const Json job = application("{}", "{}", "{type: Python}");
  EXPECT_THAT(support::names_and_counts(job_of("SparkApplication").pod_sets(job)),
              ElementsAre("driver 1", "executor 2"));
  EXPECT_EQ(amounts(job, 0), R"({"requests":{"cpu":"1","memory":"1433Mi"}})");
  EXPECT_EQ(amounts(application("{}", "{}", "{memoryOverheadFactor: '0.5'}"), 0),
            R"({"requests":{"cpu":"1","memory":"1536Mi"}})");
}

// Spark replaces the amounts of memory that a template has. Its limit of cpu stays.
TEST(Spark, ALimitOfATemplateIsNotBelowTheMemoryOfSpark) {
  const auto with = [](std::string_view more) {
    return application("{}",
                       "{memory: 1g, memoryOverhead: 512m, template: {spec: {containers: [{name: "
                       "spark-kubernetes-executor, resources: {requests: {memory: 1Gi}, limits: {cpu: 1500m, "
                       "memory: 1512Mi}}}]}}" +
                           std::string(more) + "}");
  };
  EXPECT_EQ(amounts(with(""), 1),
            R"({"limits":{"cpu":"1500m","memory":"1536Mi"},"requests":{"cpu":"1","memory":"1536Mi"}})");
  EXPECT_EQ(amounts(with(", memoryLimit: 2g"), 1),
            R"({"limits":{"cpu":"1500m","memory":"2Gi"},"requests":{"cpu":"1","memory":"1536Mi"}})");
}

TEST(Spark, WrongAmountsAreErrors) {
  const auto adapter = job_of("SparkApplication");
  EXPECT_THAT(support::problem(adapter, application("{memory: 2Gi}", "{}")), HasSubstr("spec.driver.memory"));
  EXPECT_THAT(support::problem(adapter, application("{coreRequest: x}", "{}")), HasSubstr("spec.driver.coreRequest"));
  EXPECT_THAT(support::problem(adapter, application("{}", "{instances: -1}")), HasSubstr("spec.executor.instances"));
  EXPECT_THAT(support::problem(adapter, yaml("{spec: {driver: {}}}")), HasSubstr("spec.executor: Required value"));
}

TEST(Spark, JavaWritesMemoryInItsOwnWay) {
  for (const auto& [text, mebibytes] : {std::pair("512m", 512), std::pair("2g", 2048), std::pair("1T", 1 << 20),
                                        std::pair("1gb", 1024), std::pair("64", 64), std::pair("2048k", 2)})
    EXPECT_EQ(java_mebibytes(text).value_or(-1), mebibytes) << text;
  for (const auto* text : {"", "m", "1.5g", "-1g", "1Gi", "9999999999999p", "1 g", "0x1"})
    EXPECT_FALSE(java_mebibytes(text)) << text;
}

TEST(Spark, AStopFindsTheFieldsAsTheyWere) {
  const auto adapter = job_of("SparkApplication");
  const auto* const kTemplate =
      "{template: {metadata: {labels: {a: b}, annotations: {}}, spec: {containers: [{name: c}], tolerations: "
      "[{key: t, operator: Exists}], nodeSelector: {x: y}}}, labels: {}}";
  for (const Json& job :
       {application("{}", "{}"), application(kTemplate, "{annotations: {k: v}, nodeSelector: {x: y}, tolerations: []}"),
        application("{labels: {a: b}}", kTemplate), application("{}", kTemplate, "{nodeSelector: {disk: ssd}}")})
    EXPECT_EQ(support::difference_after_a_stop(adapter, job), "");
}

TEST(Spark, AdmissionIsWrittenToFields) {
  const auto adapter = job_of("SparkApplication");
  const Json running = support::started(adapter, application("{}", "{}"));
  EXPECT_EQ(canonical_json(*find_path(running, {"spec", "driver"})),
            R"({"annotations":{"kueue.x-k8s.io/workload":"w"},"labels":{"kueue.x-k8s.io/cluster-queue-name":"cq",)"
            R"("kueue.x-k8s.io/podset":"driver"},"nodeSelector":{"tier":"a"},"template":{"spec":{"containers":)"
            R"([{"name":"spark-kubernetes-driver"}],"schedulingGates":[{"name":"kueue.x-k8s.io/topology"}]}},)"
            R"("tolerations":[{"key":"spot","operator":"Exists"}]})");
  // The operator refuses a second node selector.
  const Json global = support::started(adapter, application("{}", "{}", "{nodeSelector: {disk: ssd}}"));
  EXPECT_EQ(find_path(global, {"spec", "driver", "nodeSelector"}), nullptr);
  EXPECT_EQ(string_at(global, {"spec", "driver", "template", "spec", "nodeSelector", "tier"}), "a");
}

TEST(Spark, AnApplicationWithoutItsWorkloadLosesTheMarks) {
  const auto adapter = job_of("SparkApplication");
  const Json after = support::stopped(adapter, support::started(adapter, application("{}", "{}")), {});
  EXPECT_FALSE(adapter.stopping(after));
  EXPECT_EQ(find_path(after, {"spec", "driver", "template"}), nullptr);
}

}  // namespace
}  // namespace berth::jobs::kinds::spark_test
