#include "embedded/apiserver/openapi/openapi.h"

#include <gmock/gmock.h>

#include "base/embedded.h"
#include "embedded/apiserver/builtin/builtin.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::openapi::openapi_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<ResourcePtr>& everything() {
  static const std::vector<ResourcePtr> kAll = [] {
    std::vector<ResourcePtr> out = builtin_resources();
    out.push_back(crd_resource());
    for (const embedded::File& file : embedded::crds()) {
      auto resources = resources_of_crd(schema_support::yaml(file.content));
      for (const ResourcePtr& resource : *resources) out.push_back(resource);
    }
    return out;
  }();
  return kAll;
}

// Collects every "$ref" of the document.
void collect_references(const Json& value, std::vector<std::string>& out) {
  if (value.is_array()) {
    for (const Json& item : value.get_array()) collect_references(item, out);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.get_object()) {
    if (key == "$ref" && member.is_string()) out.emplace_back(view(member.get_string()));
    collect_references(member, out);
  }
}

std::vector<std::string> dangling(const Json& document, std::string_view prefix, const JsonObject& schemas) {
  std::vector<std::string> references, out;
  collect_references(document, references);
  for (const std::string& reference : references) {
    if (!reference.starts_with(prefix) || !schemas.contains(reference.substr(prefix.size()))) out.push_back(reference);
  }
  return out;
}

TEST(OpenApiV3, HasAnIndexWithHashesThatFollowTheContent) {
  Json index = v3_index(everything());
  for (std::string_view path :
       {"api/v1", "apis/batch/v1", "apis/kueue.x-k8s.io/v1beta2", "apis/apiextensions.k8s.io/v1"}) {
    EXPECT_THAT(std::string(string_at(index, {"paths", path, "serverRelativeURL"})),
                ::testing::MatchesRegex("/openapi/v3/" + std::string(path) + "\\?hash=[0-9A-F]+"));
  }
  std::vector<ResourcePtr> fewer(everything().begin(), everything().end() - 1);
  Json other = v3_index(fewer);
  const auto& left_out = everything().back()->gvr;
  const std::string changed = "apis/" + left_out.group + "/" + left_out.version;
  EXPECT_NE(string_at(index, {"paths", changed, "serverRelativeURL"}),
            string_at(other, {"paths", changed, "serverRelativeURL"}));
  EXPECT_EQ(string_at(index, {"paths", "api/v1", "serverRelativeURL"}),
            string_at(other, {"paths", "api/v1", "serverRelativeURL"}));
}

TEST(OpenApiV3, ReportsClientsHowToPatch) {
  Json document = v3_document("kueue.x-k8s.io", "v1beta2", everything());
  const Json* patch = find_path(document, {"paths", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(string_at(*patch, {"operationId"}), "patchKueueXK8sIoV1beta2ResourceFlavor");
  EXPECT_EQ(string_at(*patch, {"x-kubernetes-action"}), "patch");
  EXPECT_EQ(to_string(*find(*patch, "x-kubernetes-group-version-kind")),
            R"({"group":"kueue.x-k8s.io","version":"v1beta2","kind":"ResourceFlavor"})");
  std::vector<std::string> parameters, types;
  for (const Json& parameter : array_at(*patch, {"parameters"}))
    parameters.emplace_back(string_at(parameter, {"name"}));
  for (const auto& member : object_at(*patch, {"requestBody", "content"})) types.emplace_back(member.key());
  EXPECT_THAT(parameters, ElementsAre("dryRun", "fieldManager", "fieldValidation", "force"));
  EXPECT_THAT(types, ElementsAre("application/apply-patch+yaml", "application/json-patch+json",
                                 "application/merge-patch+json"));
  Json batch = v3_document("batch", "v1", everything());
  EXPECT_NE(find_path(batch, {"paths", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}", "patch", "requestBody",
                              "content", "application/strategic-merge-patch+json"}),
            nullptr);
  EXPECT_NE(find_path(batch, {"paths", "/apis/batch/v1/jobs", "get"}), nullptr);
  EXPECT_NE(find_path(batch, {"paths", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}/status", "put"}), nullptr);
}

TEST(OpenApiV3, DescribesKindsAndTheirFields) {
  Json document = v3_document("kueue.x-k8s.io", "v1beta2", everything());
  const Json* workload = find_path(document, {"components", "schemas", "io.x-k8s.kueue.v1beta2.Workload"});
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(to_string(*find(*workload, "x-kubernetes-group-version-kind")),
            R"([{"group":"kueue.x-k8s.io","kind":"Workload","version":"v1beta2"}])");
  EXPECT_EQ(string_at(*workload, {"properties", "spec", "properties", "queueName", "type"}), "string");
  EXPECT_EQ(string_at(array_at(*workload, {"properties", "metadata", "allOf"})[0], {"$ref"}),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  Json core = v3_document("", "v1", everything());
  EXPECT_NE(find_path(core, {"components", "schemas", "io.k8s.api.core.v1.Namespace"}), nullptr);
  EXPECT_EQ(string_at(core, {"components", "schemas", "io.k8s.api.core.v1.Pod", "properties", "spec", "properties",
                             "containers", "x-kubernetes-patch-merge-key"}),
            "name");
}

TEST(OpenApiV3, RefersOnlyToWhatItHas) {
  for (auto [group, version] :
       {std::pair("", "v1"), std::pair("batch", "v1"), std::pair("kueue.x-k8s.io", "v1beta2")}) {
    Json document = v3_document(group, version, everything());
    EXPECT_THAT(dangling(document, "#/components/schemas/", object_at(document, {"components", "schemas"})), IsEmpty());
  }
}

TEST(OpenApiV3, GivesScalesTheirOwnKind) {
  auto scaled = std::make_shared<ResourceInfo>(*everything().back());
  scaled->has_scale = true;
  const std::vector<ResourcePtr> one = {scaled};
  Json document = v3_document(scaled->gvr.group, scaled->gvr.version, one);
  EXPECT_THAT(dangling(document, "#/components/schemas/", object_at(document, {"components", "schemas"})), IsEmpty());
  const std::string path = "/apis/" + scaled->gvr.group + "/" + scaled->gvr.version + "/" +
                           std::string(scaled->namespaced ? "namespaces/{namespace}/" : "") + scaled->gvr.resource +
                           "/{name}/scale";
  EXPECT_EQ(string_at(document, {"paths", path, "get", "x-kubernetes-group-version-kind", "kind"}), "Scale");
}

TEST(OpenApiV2, RefersOnlyToWhatItHas) {
  Json document = v2_document(everything());
  EXPECT_THAT(dangling(document, "#/definitions/", object_at(document, {"definitions"})), IsEmpty());
  EXPECT_NE(find_path(document, {"paths", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{name}", "get"}), nullptr);
}

// Reads one level of protobuf: field numbers and the bytes of length-delimited fields.
std::vector<std::pair<int, std::string>> fields_of(std::string_view in) {
  std::vector<std::pair<int, std::string>> out;
  std::size_t at = 0;
  auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < in.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(in[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return value;
  };
  while (at < in.size()) {
    const std::uint64_t key = varint();
    std::string value;
    if ((key & 7U) == 2) {
      const std::uint64_t size = varint();
      value = in.substr(at, size);
      at += size;
    } else if ((key & 7U) == 1) {
      at += 8;
    } else {
      value = std::to_string(varint());
    }
    out.emplace_back(static_cast<int>(key >> 3U), std::move(value));
  }
  return out;
}

std::string field(std::string_view in, int number) {
  for (auto& [field_number, value] : fields_of(in)) {
    if (field_number == number) return value;
  }
  return "";
}

TEST(OpenApiV2Protobuf, IsAGnosticDocument) {
  Json document = schema_support::yaml(R"(
swagger: "2.0"
info: {title: T, version: v}
paths: {/a: {get: {operationId: readA, x-kubernetes-action: get, responses: {"200": {description: OK, schema: {$ref: '#/definitions/A'}}}}}}
definitions: {A: {type: object, description: an A, required: [b], properties: {b: {type: integer, minimum: 1.5, maxLength: 300}}}}
)");
  const std::string bytes = v2_protobuf(document);
  EXPECT_EQ(field(bytes, 1), "2.0");
  EXPECT_EQ(field(field(bytes, 2), 1), "T");
  const std::string path = field(field(bytes, 8), 2);
  EXPECT_EQ(field(path, 1), "/a");
  const std::string get = field(field(path, 2), 2);
  EXPECT_EQ(field(get, 5), "readA");
  const std::string extension = field(get, 13);
  EXPECT_EQ(field(extension, 1), "x-kubernetes-action");
  EXPECT_EQ(field(field(extension, 2), 2), "\"get\"");
  const std::string response = field(field(field(field(get, 9), 1), 2), 1);
  EXPECT_EQ(field(field(field(response, 2), 1), 1), "#/definitions/A");
  const std::string definition = field(field(bytes, 9), 1);
  EXPECT_EQ(field(definition, 1), "A");
  const std::string schema = field(definition, 2);
  EXPECT_EQ(field(schema, 4), "an A");
  EXPECT_EQ(field(schema, 19), "b");
  EXPECT_EQ(field(field(schema, 22), 1), "object");
  EXPECT_EQ(field(field(field(field(schema, 25), 1), 2), 11), "300");
}

}  // namespace
}  // namespace berth::apiserver::openapi::openapi_test
