#include "api/visibility/visibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/status.h"
#include "api/visibility/documents.h"

namespace berth::api::visibility::visibility_test {
namespace {

using testing::HasSubstr;

TEST(VisibilityPage, HasKueuesDefaultsAndBounds) {
  const auto of = [](std::string_view offset, std::string_view limit) {
    const Page page = parse_page(offset, limit).value();
    return std::pair(page.offset, page.limit);
  };
  EXPECT_EQ(of("", ""), std::pair(std::size_t{0}, kDefaultLimit));
  EXPECT_EQ(of("3", "4"), std::pair(std::size_t{3}, std::size_t{4}));
  EXPECT_EQ(of("", "0"), std::pair(std::size_t{0}, kDefaultLimit));
  EXPECT_EQ(of("-1", "-1"), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(of("9223372036854775807", "100001"), std::pair(std::size_t{9223372036854775807U}, kMaxLimit));
}

TEST(VisibilityPage, NamesWhatIsNoNumber) {
  EXPECT_THAT(parse_page("x", "").error().message, HasSubstr("offset=\"x\""));
  EXPECT_THAT(parse_page("", "5 ").error().message, HasSubstr("limit=\"5 \""));
  EXPECT_THAT(parse_page("", "1e3").error().message, HasSubstr("limit=\"1e3\""));
  EXPECT_THAT(parse_page("9223372036854775808", "").error().message, HasSubstr("whole number"));
}

TEST(VisibilityPath, NamesTheQueue) {
  const auto of = [](const std::vector<std::string>& segments) -> std::string {
    const auto question = parse_path(segments);
    return question ? question->version + " " + question->ns + "/" + question->queue : "none";
  };
  const std::string group(kGroup);
  EXPECT_EQ(of({"apis", group, "v1beta2", "clusterqueues", "cq", "pendingworkloads"}), "v1beta2 /cq");
  EXPECT_EQ(of({"apis", group, "v1beta1", "namespaces", "team", "localqueues", "lq", "pendingworkloads"}),
            "v1beta1 team/lq");
  EXPECT_EQ(of({"apis", group, "v1alpha1", "clusterqueues", "cq", "pendingworkloads"}), "none");
  EXPECT_EQ(of({"apis", group, "v1beta2", "clusterqueues", "cq"}), "none");
  EXPECT_EQ(of({"apis", group, "v1beta2", "clusterqueues", "cq", "status"}), "none");
  EXPECT_EQ(of({"apis", group, "v1beta2", "localqueues", "lq", "pendingworkloads"}), "none");
  EXPECT_EQ(of({"apis", group, "v1beta2", "namespaces", "team", "clusterqueues", "cq", "pendingworkloads"}), "none");
  EXPECT_EQ(of({"apis", "kueue.x-k8s.io", "v1beta2", "clusterqueues", "cq", "pendingworkloads"}), "none");
}

TEST(VisibilitySummary, IsWhatKueuesClientsRead) {
  auto workload = std::make_shared<kueue::Workload>();
  workload->meta.name = "job-a";
  workload->meta.ns = "team";
  workload->meta.uid = "not-shown";
  workload->meta.creation = Time(std::chrono::seconds(1'800'000'000));
  workload->meta.owners.push_back({"batch/v1", "Job", "a", "uid-a", true, true});
  workload->queue_name = "lq";
  workload->priority = -5;
  EXPECT_EQ(to_string(encode_summary("v1beta1", {{workload, 12, 3}})),
            R"({"kind":"PendingWorkloadsSummary","apiVersion":"visibility.kueue.x-k8s.io/v1beta1","metadata":{},)"
            R"("items":[{"metadata":{"name":"job-a","namespace":"team","creationTimestamp":"2027-01-15T08:00:00Z",)"
            R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"a","uid":"uid-a"}]},"priority":-5,)"
            R"("localQueueName":"lq","positionInClusterQueue":12,"positionInLocalQueue":3}]})");
  EXPECT_EQ(to_string(encode_summary("v1beta2", {})),
            R"({"kind":"PendingWorkloadsSummary","apiVersion":"visibility.kueue.x-k8s.io/v1beta2","metadata":{},)"
            R"("items":[]})");
}

TEST(VisibilitySummary, SaysWhichQueueIsNotThere) {
  const RestResponse response = no_such_queue("clusterqueues", "cq");
  EXPECT_EQ(response.code, 404);
  EXPECT_EQ(status_message(response), R"(clusterqueue.visibility.kueue.x-k8s.io "cq" not found)");
  EXPECT_EQ(string_at(response.body, {"details", "kind"}), "clusterqueue");
}

TEST(VisibilityDocuments, ListTheSubresourcesOfBothQueues) {
  for (const std::string_view version : kVersions) {
    std::string reported;
    const Json list = resource_list(version);
    for (const Json& each : array_at(list, {"resources"})) {
      reported += std::string(string_at(each, {"name"})) + (bool_at(each, {"namespaced"}) ? " namespaced" : "");
      for (const Json& verb : array_at(each, {"verbs"})) reported += " " + std::string(view(verb.as_string()));
      reported += "\n";
    }
    EXPECT_EQ(
        reported,
        "clusterqueues\nclusterqueues/pendingworkloads get\n"
        "localqueues namespaced\nlocalqueues/pendingworkloads namespaced get\n"
        "whatifs create\nlocalwhatifs namespaced create\nworkloads namespaced\nworkloads/explanation namespaced get\n"
        "workloads/prediction namespaced get\n");
  }
  EXPECT_EQ(string_at(group_document(), {"preferredVersion", "version"}), "v1beta2");
  EXPECT_EQ(array_at(aggregated_entry(), {"versions"}).size(), kVersions.size());
}

// Collects all references ($ref) of a document.
void collect(const Json& value, std::set<std::string>& references) {
  if (value.is_array()) {
    for (const Json& each : value.as_array()) collect(each, references);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.as_object()) {
      if (key == "$ref") references.emplace(view(member.as_string()));
      collect(member, references);
    }
  }
}

TEST(VisibilityDocuments, OpenApiRefersToItsOwnSchemasOnly) {
  const auto expect_complete = [](const Json& document, const JsonObject& schemas, const std::string& prefix) {
    std::set<std::string> references, known;
    collect(document, references);
    for (const auto& [name, schema] : schemas) known.insert(prefix + std::string(name));
    EXPECT_EQ(references, known);
  };
  for (const std::string_view version : kVersions) {
    const Json document = openapi_v3(version);
    expect_complete(document, object_at(document, {"components", "schemas"}), "#/components/schemas/");
    EXPECT_EQ(object_at(document, {"paths"}).size(), 4u);
  }
  const Json document = openapi_v2();
  expect_complete(document, object_at(document, {"definitions"}), "#/definitions/");
  EXPECT_EQ(object_at(document, {"paths"}).size(), 8u);
}

}  // namespace
}  // namespace berth::api::visibility::visibility_test
