// The definitions of other projects' kinds of jobs, and the names by which they are chosen.
#include "embedded/apiserver/crd/external_kinds.h"

#include <gmock/gmock.h>

#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::external_kinds_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> chosen(std::string_view names) {
  const auto files = choose_external_kinds(names);
  EXPECT_TRUE(files.has_value()) << names;
  std::vector<std::string> kinds;
  for (const embedded::File& file : *files)
    kinds.emplace_back(string_at(schema_support::yaml(file.content), {"spec", "names", "kind"}));
  return kinds;
}

TEST(ExternalKinds, AreThoseOfKueuesFrameworks) {
  EXPECT_THAT(chosen("all"), ElementsAre("AppWrapper", "ClusterTrainingRuntime", "JAXJob", "JobSet", "LeaderWorkerSet",
                                         "MPIJob", "PaddleJob", "PyTorchJob", "RayCluster", "RayJob", "RayService",
                                         "SparkApplication", "TFJob", "TrainingRuntime", "TrainJob", "XGBoostJob"));
  EXPECT_THAT(chosen("none"), IsEmpty());
  EXPECT_THAT(chosen(""), IsEmpty());
}

TEST(ExternalKinds, AreNamedByPluralDefinitionOrFramework) {
  EXPECT_THAT(chosen("rayjobs"), ElementsAre("RayJob"));
  EXPECT_THAT(chosen("rayjobs.ray.io,jobsets"), ElementsAre("JobSet", "RayJob"));
  EXPECT_THAT(chosen("jobset.x-k8s.io/jobset,kubeflow.org/mpijob,jobsets"), ElementsAre("JobSet", "MPIJob"));
  EXPECT_THAT(chosen("sparkoperator.k8s.io/sparkapplication"), ElementsAre("SparkApplication"));
}

TEST(ExternalKinds, TrainJobsBringTheirRuntimes) {
  EXPECT_THAT(chosen("trainer.kubeflow.org/trainjob"),
              ElementsAre("ClusterTrainingRuntime", "TrainingRuntime", "TrainJob"));
}

TEST(ExternalKinds, AnUnknownNameIsSaid) {
  for (const std::string_view names :
       {"jobsets,jobset", "jobset.x-k8s.io/jobsets", "ray.io/jobset", "a,jobsets", "/"}) {
    const auto files = choose_external_kinds(names);
    ASSERT_FALSE(files.has_value()) << names;
    EXPECT_THAT(files.error().message, HasSubstr("unknown kind \"")) << names;
    EXPECT_THAT(files.error().message, HasSubstr("appwrappers, clustertrainingruntimes, ")) << names;
  }
}

TEST(ExternalKinds, AreFoundByTheKindOfAnObject) {
  for (const embedded::File& file : embedded::external_crds()) {
    const Json crd = schema_support::yaml(file.content);
    const auto resources = resources_of_crd(crd);
    ASSERT_TRUE(resources.has_value()) << file.name;
    for (const ResourcePtr& resource : *resources)
      EXPECT_EQ(external_kind_of(resource->gvr.group + "/" + resource->gvr.version, resource->kind),
                resource->gvr.resource);
  }
  EXPECT_EQ(external_kind_of("batch/v1", "Job"), "");
  EXPECT_EQ(external_kind_of("batch/v1", "JobSet"), "");
}

// JobSet's webhook gives the rules of a failure policy their names before the schema is looked at.
TEST(ExternalKinds, RulesOfAFailurePolicyNeedNoName) {
  for (const embedded::File& file : embedded::external_crds()) {
    if (file.name.find("/jobsets.yaml") == std::string_view::npos) continue;
    const auto resources = resources_of_crd(schema_support::yaml(file.content));
    ASSERT_TRUE(resources.has_value());
    const Json set = schema_support::yaml(
        "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: a}, spec: {failurePolicy: {rules: "
        "[{action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]}, replicatedJobs: []}}");
    EXPECT_THAT(schema_support::texts(validate_schema(set, nullptr, *resources->at(0)->schema, "")), IsEmpty());
    return;
  }
  FAIL() << "no definition of JobSets";
}

// The parts of the spec and the status of each kind; what Kubernetes' own types have is explained with those.
TEST(ExternalKinds, ExplainWhatIsTheirOwn) {
  for (const embedded::File& file : embedded::external_crds()) {
    const auto resources = resources_of_crd(schema_support::yaml(file.content));
    ASSERT_TRUE(resources.has_value()) << file.name;
    for (const std::string_view part : {"spec", "status"}) {
      const auto& schema = *resources->at(0)->schema;
      EXPECT_NE(schema.description, "") << file.name;
      const auto it = schema.properties.find(std::string(part));
      if (it == schema.properties.end()) continue;
      for (const auto& [name, child] : it->second->properties)
        EXPECT_NE(child->description, "") << file.name << ": " << part << "." << name;
    }
  }
}

}  // namespace
}  // namespace berth::apiserver::external_kinds_test
