// Custom resources and the lifecycle of their definitions.
#include <gtest/gtest.h>

#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::custom_resource_test {
namespace {

const api::GroupVersionResource kWidgets{"ex.example.com", "v1", "widgets"};

constexpr std::string_view kWidgetCrd = R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "widgets.ex.example.com"},
  "spec": {
    "group": "ex.example.com", "scope": "Namespaced",
    "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
    "versions": [
      {"name": "v1", "served": true, "storage": true,
       "schema": {"openAPIV3Schema": {"type": "object", "properties": {
         "spec": {"type": "object", "properties": {"n": {"type": "integer", "default": 3}, "s": {"type": "string"}}},
         "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}},
       "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.replicas"}}},
      {"name": "v1old", "served": true, "storage": false, "deprecated": true,
       "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
    ]}})";

class CustomResourceTest : public ServerTest {
 protected:
  CustomResourceTest() {
    const auto created = create(kCrds, "", kWidgetCrd);
    EXPECT_EQ(created.code, 201) << to_string(created.body);
  }
  static std::string widget(std::string_view name, std::string_view spec = "{}", std::string_view meta = "") {
    return R"({"apiVersion":"ex.example.com/v1","kind":"Widget","metadata":{"name":")" + std::string(name) + "\"" +
           std::string(meta) + R"(},"spec":)" + std::string(spec) + "}";
  }
};

TEST_F(CustomResourceTest, ADefinitionIsEstablishedAndServed) {
  const auto crd = get(kCrds, "", "widgets.ex.example.com");
  EXPECT_EQ(string_at(crd.body, {"status", "acceptedNames", "kind"}), "Widget");
  EXPECT_NE(server->registry().find(kWidgets), nullptr);
  const auto created = create(kWidgets, "default", widget("w"));
  ASSERT_EQ(created.code, 201) << to_string(created.body);
  EXPECT_EQ(int_at(created.body, {"spec", "n"}), 3);
  EXPECT_EQ(int_at(created.body, {"metadata", "generation"}), 1);
}

TEST_F(CustomResourceTest, GenerationCountsChangesOfTheSpecAlone) {
  ASSERT_EQ(create(kWidgets, "default", widget("w")).code, 201);
  const auto generation = [](const api::RestResponse& answer) {
    return int_at(answer.body, {"metadata", "generation"});
  };
  EXPECT_EQ(generation(patch(kWidgets, "default", "w", R"({"spec":{"s":"x"}})")), 2);
  EXPECT_EQ(generation(patch(kWidgets, "default", "w", R"({"metadata":{"labels":{"a":"b"}}})")), 2);
  EXPECT_EQ(
      generation(patch(kWidgets, "default", "w", R"({"status":{"replicas":1}})", api::PatchType::kMerge, "status")), 2);
}

TEST_F(CustomResourceTest, AStatusWriteLeavesSpecAndMetadataAlone) {
  ASSERT_EQ(create(kWidgets, "default", widget("w")).code, 201);
  const auto answer =
      patch(kWidgets, "default", "w", R"({"metadata":{"labels":{"a":"b"}},"spec":{"n":9},"status":{"replicas":2}})",
            api::PatchType::kMerge, "status");
  EXPECT_EQ(int_at(answer.body, {"status", "replicas"}), 2);
  EXPECT_EQ(int_at(answer.body, {"spec", "n"}), 3);
  EXPECT_EQ(find_path(answer.body, {"metadata", "labels"}), nullptr);
  const auto spec = patch(kWidgets, "default", "w", R"({"status":{"replicas":5}})");
  EXPECT_EQ(string_at(spec.body, {"metadata", "resourceVersion"}),
            string_at(answer.body, {"metadata", "resourceVersion"}));
}

TEST_F(CustomResourceTest, UpdatesNeedAVersionAndStrategicPatchesAreNotOffered) {
  ASSERT_EQ(create(kWidgets, "default", widget("w")).code, 201);
  const auto update_answer = update(kWidgets, "default", json(widget("w", R"({"n":4})")));
  EXPECT_EQ(update_answer.code, 422);
  EXPECT_EQ(api::status_message(update_answer),
            "widgets.ex.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be "
            "specified for an update");
  EXPECT_EQ(patch(kWidgets, "default", "w", "{}", api::PatchType::kStrategicMerge).code, 415);
}

TEST_F(CustomResourceTest, Scale) {
  ASSERT_EQ(create(kWidgets, "default", widget("w")).code, 201);
  auto r = request(api::Verb::kGet, kWidgets, "default", "w");
  r.subresource = "scale";
  const auto scale = call(r);
  EXPECT_EQ(string_at(scale.body, {"kind"}), "Scale");
  EXPECT_EQ(int_at(scale.body, {"spec", "replicas"}), 3);
  const auto written = patch(kWidgets, "default", "w", R"({"spec":{"replicas":9}})", api::PatchType::kMerge, "scale");
  EXPECT_EQ(int_at(written.body, {"spec", "replicas"}), 9);
  EXPECT_EQ(int_at(get(kWidgets, "default", "w").body, {"spec", "n"}), 9);
  EXPECT_EQ(int_at(get(kWidgets, "default", "w").body, {"metadata", "generation"}), 2);
  EXPECT_EQ(patch(kWidgets, "default", "w", R"({"spec":{"replicas":-1}})", api::PatchType::kMerge, "scale").code, 422);
  EXPECT_EQ(patch(kWidgets, "default", "w", R"({"metadata":{"resourceVersion":"1"},"spec":{"replicas":1}})",
                  api::PatchType::kMerge, "scale")
                .code,
            409);
}

TEST_F(CustomResourceTest, OtherVersionsShowTheSameObjectsAndWarn) {
  const api::GroupVersionResource old{"ex.example.com", "v1old", "widgets"};
  ASSERT_EQ(create(kWidgets, "default", widget("w")).code, 201);
  const auto seen = get(old, "default", "w");
  EXPECT_EQ(string_at(seen.body, {"apiVersion"}), "ex.example.com/v1old");
  EXPECT_EQ(seen.warnings, std::vector<std::string>{"ex.example.com/v1old Widget is deprecated"});
  ASSERT_EQ(patch(old, "default", "w", R"({"spec":{"s":"x"}})").code, 200);
  EXPECT_EQ(string_at(get(kWidgets, "default", "w").body, {"apiVersion"}), "ex.example.com/v1");
}

TEST_F(CustomResourceTest, DeletingADefinitionTakesTheObjectsAndEndsTheWatches) {
  ASSERT_EQ(create(kWidgets, "default", widget("w0")).code, 201);
  ASSERT_EQ(create(kWidgets, "default", widget("w1", "{}", R"(,"finalizers":["example.com/hold"])")).code, 201);
  const auto watched = watch(request(api::Verb::kWatch, kWidgets, "default"));
  const auto answer = remove(kCrds, "", "widgets.ex.example.com");
  EXPECT_EQ(to_string(*find_path(answer.body, {"metadata", "finalizers"})),
            R"(["customresourcecleanup.apiextensions.k8s.io"])");
  EXPECT_FALSE(exists(kWidgets, "default", "w0"));
  EXPECT_TRUE(exists(kWidgets, "default", "w1"));
  EXPECT_EQ(create(kWidgets, "default", widget("w2")).code, 405);
  EXPECT_FALSE(watched->ended);
  ASSERT_EQ(patch(kWidgets, "default", "w1", R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_FALSE(exists(kCrds, "", "widgets.ex.example.com"));
  EXPECT_EQ(server->registry().find(kWidgets), nullptr);
  EXPECT_EQ(get(kWidgets, "default", "w1").code, 404);
  EXPECT_TRUE(watched->ended);
}

// Also of those that are not durable when the definition goes.
TEST_F(CustomResourceTest, WatchesAreInformedOfAllDeletionsBeforeTheyEnd) {
  ASSERT_EQ(create(kWidgets, "default", widget("w0")).code, 201);
  ASSERT_EQ(create(kWidgets, "default", widget("w1")).code, 201);
  const auto watched = watch(request(api::Verb::kWatch, kWidgets, "default"));
  remove(kCrds, "", "widgets.ex.example.com");
  EXPECT_TRUE(watched->ended);
  std::vector<std::string> gone;
  for (const api::WatchEvent& event : watched->raw) {
    if (event.type == api::WatchEvent::Type::kDeleted)
      gone.emplace_back(string_at(*event.object, {"metadata", "name"}));
  }
  EXPECT_EQ(gone, (std::vector<std::string>{"w0", "w1"}));
}

TEST_F(CustomResourceTest, DefaultsOfANewSchemaShowInOldObjects) {
  ASSERT_EQ(create(kWidgets, "default", widget("old")).code, 201);
  auto crd = get(kCrds, "", "widgets.ex.example.com").body;
  ensure_path(crd.at("spec").at("versions").as_array()[0],
              {"schema", "openAPIV3Schema", "properties", "spec", "properties", "s", "default"}) = "new";
  ASSERT_EQ(update(kCrds, "", crd).code, 200);
  const auto seen = get(kWidgets, "default", "old");
  EXPECT_EQ(string_at(seen.body, {"spec", "s"}), "new");
  EXPECT_EQ(string_at(array_at(list(kWidgets, "default").body, {"items"})[0], {"spec", "s"}), "new");
  // The read did not write anything, and writing the read object back changes nothing.
  const auto written = update(kWidgets, "default", seen.body);
  EXPECT_TRUE(json_equal(written.body, seen.body)) << to_string(written.body);
}

TEST_F(CustomResourceTest, AVersionThatIsNotServedAnyMoreGoes) {
  auto crd = get(kCrds, "", "widgets.ex.example.com").body;
  crd.at("spec").at("versions").as_array()[1].as_object()["served"] = false;
  const auto updated = update(kCrds, "", crd);
  ASSERT_EQ(updated.code, 200) << to_string(updated.body);
  EXPECT_EQ(server->registry().find({"ex.example.com", "v1old", "widgets"}), nullptr);
  EXPECT_NE(server->registry().find(kWidgets), nullptr);
}

}  // namespace
}  // namespace berth::apiserver::custom_resource_test
