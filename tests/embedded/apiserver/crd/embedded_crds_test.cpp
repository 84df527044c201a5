// kube-apiserver would accept the CRDs that are embedded in the program.
#include <gmock/gmock.h>

#include "base/embedded.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::embedded_crds_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Json stored_form(std::string_view text) {
  Json crd = schema_support::yaml(text);
  EXPECT_TRUE(crd_resource()->strategy.decode(crd).has_value());
  crd_resource()->strategy.prepare_create(crd, Lookup{});
  return crd;
}

ResourcePtr resource(std::string_view kind) {
  for (const embedded::File& file : embedded::crds()) {
    Json crd = stored_form(file.content);
    if (string_at(crd, {"spec", "names", "kind"}) != kind) continue;
    auto resources = resources_of_crd(crd);
    EXPECT_TRUE(resources.has_value());
    return resources->at(0);
  }
  ADD_FAILURE() << "no CRD of kind " << kind;
  return nullptr;
}

std::vector<embedded::File> all_definitions() {
  std::vector<embedded::File> all(embedded::crds().begin(), embedded::crds().end());
  all.insert(all.end(), embedded::external_crds().begin(), embedded::external_crds().end());
  return all;
}

TEST(EmbeddedCrds, AreValid) {
  for (const embedded::File& file : all_definitions()) {
    Json crd = stored_form(file.content);
    auto errors = crd_resource()->strategy.validate(crd, Lookup{});
    EXPECT_THAT(schema_support::texts(errors), IsEmpty()) << file.name;
    std::vector<std::string> unknown;
    prune(crd, *crd_resource()->schema, true, &unknown);
    EXPECT_THAT(unknown, IsEmpty()) << file.name;
  }
}

// kube-apiserver moves fields that are equal in all versions to the top level. If selectableFields are equal but the
// schemas differ, it then finds selectableFields without a schema next to them.
TEST(EmbeddedCrds, SelectableFieldsAreNotAlikeInVersionsWithDifferentSchemas) {
  for (const embedded::File& file : all_definitions()) {
    const Json crd = schema_support::yaml(file.content);
    const JsonArray& versions = array_at(crd, {"spec", "versions"});
    bool fields_alike = true, schemas_alike = true;
    for (const Json& version : versions) {
      fields_alike =
          fields_alike && array_at(version, {"selectableFields"}) == array_at(versions[0], {"selectableFields"});
      schemas_alike = schemas_alike && json_equal(*find(version, "schema"), *find(versions[0], "schema"));
    }
    EXPECT_TRUE(schemas_alike || !fields_alike || array_at(versions[0], {"selectableFields"}).empty()) << file.name;
  }
}

TEST(EmbeddedCrds, AreKueuesKindsVolcanosKindsAndTheProvisioningRequest) {
  std::vector<std::string> kinds;
  for (const embedded::File& file : embedded::crds()) {
    Json crd = schema_support::yaml(file.content);
    kinds.emplace_back(string_at(crd, {"spec", "names", "kind"}));
  }
  EXPECT_THAT(kinds, UnorderedElementsAre("AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "MultiKueueCluster",
                                          "MultiKueueConfig", "ProvisioningRequest", "ProvisioningRequestConfig",
                                          "ResourceFlavor", "Topology", "Workload", "WorkloadPriorityClass", "Command",
                                          "Job", "PodGroup", "Queue"));
}

TEST(EmbeddedCrds, ExplainEveryField) {
  std::vector<std::string> bare;
  auto walk = [&](auto&& self, const Schema& schema, const std::string& path) -> void {
    for (const auto& [name, child] : schema.properties) {
      std::string at = path + "." + name;
      if (child->description.empty() && name != "metadata") bare.push_back(at);
      self(self, *child, at);
    }
    if (schema.items) self(self, *schema.items, path + "[]");
    if (schema.additional) self(self, *schema.additional, path + "{}");
  };
  for (const embedded::File& file : embedded::crds()) {
    Json crd = schema_support::yaml(file.content);
    auto resources = resources_of_crd(crd);
    ASSERT_TRUE(resources.has_value()) << file.name;
    walk(walk, *resources->at(0)->schema, resources->at(0)->kind);
  }
  EXPECT_THAT(bare, IsEmpty());
}

TEST(ResourcesOfCrd, CarryNamesSubresourcesColumnsAndSelectableFields) {
  ResourcePtr workloads = resource("Workload");
  ASSERT_NE(workloads, nullptr);
  EXPECT_EQ(workloads->gvr, (api::GroupVersionResource{"kueue.x-k8s.io", "v1beta2", "workloads"}));
  EXPECT_EQ(workloads->list_kind, "WorkloadList");
  EXPECT_THAT(workloads->short_names, ElementsAre("kwl", "kueueworkload", "kueueworkloads"));
  EXPECT_TRUE(workloads->namespaced);
  EXPECT_TRUE(workloads->has_status);
  EXPECT_FALSE(workloads->has_scale);
  EXPECT_TRUE(workloads->custom);
  EXPECT_EQ(workloads->storage_version, "v1beta2");
  ASSERT_EQ(workloads->columns.size(), 5u);
  EXPECT_EQ(workloads->columns[2].json_path, ".status.conditions[?(@.type=='Admitted')].status");
  EXPECT_THAT(workloads->strategy.selectable_fields, ElementsAre("status.admission.clusterQueue"));
  Json object = schema_support::yaml("{status: {admission: {clusterQueue: a}}}");
  EXPECT_EQ(workloads->strategy.field(object, "status.admission.clusterQueue"), "a");
  EXPECT_EQ(workloads->strategy.field(Json(JsonObject()), "status.admission.clusterQueue"), "");
  EXPECT_EQ(workloads->strategy.field(object, "spec.queueName"), std::nullopt);
}

TEST(ResourcesOfCrd, DefaultsAreThoseOfTheKind) {
  Json queue = schema_support::yaml("{metadata: {name: a}, spec: {}}");
  apply_defaults(queue, *resource("ClusterQueue")->schema);
  EXPECT_EQ(canonical_json(queue),
            R"({"metadata":{"name":"a"},"spec":{"flavorFungibility":{"whenCanBorrow":"MayStopSearch",)"
            R"("whenCanPreempt":"TryNextFlavor"},"preemption":{"borrowWithinCohort":{"policy":"Never"},)"
            R"("reclaimWithinCohort":"Never","withinClusterQueue":"Never"},"queueingStrategy":"BestEffortFIFO",)"
            R"("stopPolicy":"None"}})");
}

TEST(EstablishedStatus, AcceptsTheNames) {
  Json crd = stored_form(embedded::crds()[0].content);
  Json status = established_status(crd, Time{});
  EXPECT_TRUE(json_equal(*find(status, "acceptedNames"), *find_path(crd, {"spec", "names"})));
  ASSERT_EQ(array_at(status, {"conditions"}).size(), 2u);
  EXPECT_EQ(string_at(array_at(status, {"conditions"})[1], {"reason"}), "InitialNamesAccepted");
  EXPECT_EQ(to_string(*find(status, "storedVersions")), R"(["v1beta2"])");
}

}  // namespace
}  // namespace berth::apiserver::embedded_crds_test
