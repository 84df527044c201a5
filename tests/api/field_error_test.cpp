#include "api/field_error.h"

#include <gtest/gtest.h>

#include "api/status.h"

namespace berth::api::field_error_test {
namespace {

TEST(FieldError, SaysWhatKubernetesSays) {
  const struct {
    FieldError error;
    std::string text, reason;
  } cases[] = {
      {required("spec.x", ""), "spec.x: Required value", "FieldValueRequired"},
      {required("metadata.name", "name or generateName is required"),
       "metadata.name: Required value: name or generateName is required", "FieldValueRequired"},
      {invalid_value("spec.parallelism", -1, "must be greater than or equal to 0"),
       "spec.parallelism: Invalid value: -1: must be greater than or equal to 0", "FieldValueInvalid"},
      {invalid_value("a", nullptr, "x"), "a: Invalid value: null: x", "FieldValueInvalid"},
      {invalid_value("spec.nodeSelector", *parse_json(R"({"k":"w"})"), "only additions"),
       R"(spec.nodeSelector: Invalid value: {"k":"w"}: only additions)", "FieldValueInvalid"},
      {invalid_without_value("spec", "topologyName is immutable"), "spec: Invalid value: topologyName is immutable",
       "FieldValueInvalid"},
      {not_supported("spec.stopPolicy", "y", {"None", "Hold"}),
       R"(spec.stopPolicy: Unsupported value: "y": supported values: "None", "Hold")", "FieldValueNotSupported"},
      {not_supported("dryRun", *parse_json(R"(["Some"])"), {"All"}),
       R"(dryRun: Unsupported value: ["Some"]: supported values: "All")", "FieldValueNotSupported"},
      {forbidden_field("value", "may not be changed in an update."),
       "value: Forbidden: may not be changed in an update.", "FieldValueForbidden"},
      {duplicate("spec.set[1]", "a"), R"(spec.set[1]: Duplicate value: "a")", "FieldValueDuplicate"},
      {too_long("[]", 1048576), "[]: Too long: may not be more than 1048576 bytes", "FieldValueTooLong"},
      {too_many("spec.l", 9, 8), "spec.l: Too many: 9: must have at most 8 items", "FieldValueTooMany"},
      {not_found_field("a", "b"), R"(a: Not found: "b")", "FieldValueNotFound"},
      {type_invalid("spec.io", "boolean", "must be of type integer"),
       R"(spec.io: Invalid value: "boolean": must be of type integer)", "FieldValueTypeInvalid"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(c.error), c.text);
    EXPECT_EQ(reason_of(c.error.type), c.reason);
  }
}

TEST(FieldError, SeveralErrorsAreJoinedInBrackets) {
  EXPECT_EQ(to_string(FieldErrors{required("a", ""), required("b", "")}), "[a: Required value, b: Required value]");
  EXPECT_EQ(to_string(FieldErrors{required("a", ""), required("a", "")}), "a: Required value");
  EXPECT_EQ(to_string(FieldErrors{}), "");
}

TEST(Names, Subdomains) {
  for (const std::string good : {"a", "a.b", "a-b.c1", "0"}) EXPECT_EQ(check_dns_subdomain(good), "") << good;
  EXPECT_EQ(check_dns_subdomain(std::string(253, 'a')), "");
  EXPECT_EQ(check_dns_subdomain(std::string(254, 'a')), "must be no more than 253 bytes");
  for (const std::string bad : {"", "A", "a_b", "-a", "a-", "a..b", ".a", "a."})
    EXPECT_TRUE(check_dns_subdomain(bad).starts_with("a lowercase RFC 1123 subdomain must consist of lower case"))
        << bad;
}

TEST(Names, Labels) {
  EXPECT_EQ(check_dns_label("a-b"), "");
  EXPECT_TRUE(check_dns_label("a.b").starts_with("a lowercase RFC 1123 label must consist of"));
  EXPECT_EQ(check_dns_label(std::string(64, 'a')), "must be no more than 63 bytes");
  EXPECT_EQ(check_label_value(""), "");
  EXPECT_EQ(check_label_value("A_b.c-d"), "");
  EXPECT_TRUE(check_label_value("a b").starts_with("a valid label must be an empty string or consist of"));
}

TEST(Names, QualifiedNames) {
  for (const std::string good : {"a", "A.b_c", "example.com/Name", "kueue.x-k8s.io/queue-name"})
    EXPECT_EQ(check_qualified_name(good), "");
  const struct {
    std::string name, start;
  } cases[] = {{"", "name part must be non-empty"},
               {"example.com/", "name part must be non-empty"},
               {"/a", "prefix part must be non-empty"},
               {"a b", "name part must consist of alphanumeric characters, '-', '_' or '.', and must start"},
               {"Ex_ample/a", "prefix part a lowercase RFC 1123 subdomain must"},
               {"a/b/c", "a qualified name must consist of"},
               {std::string(64, 'a'), "name part must be no more than 63 bytes"}};
  for (const auto& c : cases)
    EXPECT_TRUE(check_qualified_name(c.name).starts_with(c.start)) << check_qualified_name(c.name);
}

TEST(Paths, AreBuiltAsKubernetesWritesThem) {
  EXPECT_EQ(field_path("", "spec"), "spec");
  EXPECT_EQ(key_path(index_path(field_path("spec", "a"), 2), "x/y"), "spec.a[2][x/y]");
}

TEST(Status, InvalidNamesTheObjectAndEveryCause) {
  const RestResponse one =
      invalid("", "ConfigMap", "", {required("metadata.name", "name or generateName is required")});
  EXPECT_EQ(one.code, 422);
  EXPECT_EQ(
      to_string(one.body),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"ConfigMap \"\" is invalid: metadata.name: )"
      R"(Required value: name or generateName is required","reason":"Invalid","details":{"kind":"ConfigMap","causes":[{"reason":)"
      R"("FieldValueRequired","message":"Required value: name or generateName is required","field":"metadata.name"}]},"code":422})");
  const RestResponse two = invalid("kueue.x-k8s.io", "ClusterQueue", "q", {required("a", ""), duplicate("b", "x")});
  EXPECT_EQ(status_message(two),
            R"(ClusterQueue.kueue.x-k8s.io "q" is invalid: [a: Required value, b: Duplicate value: "x"])");
  EXPECT_EQ(to_string(object_at(two.body, {"details"}).at("group")), "\"kueue.x-k8s.io\"");
}

TEST(Status, SaysNoAsAnApiServerDoes) {
  const GroupVersionResource queues{"kueue.x-k8s.io", "v1beta2", "clusterqueues"};
  const GroupVersionResource maps{"", "v1", "configmaps"};
  EXPECT_EQ(
      to_string(not_found(maps, "none").body),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"none\" not found",)"
      R"("reason":"NotFound","details":{"name":"none","kind":"configmaps"},"code":404})");
  EXPECT_EQ(status_message(not_found(queues, "qs")), "clusterqueues.kueue.x-k8s.io \"qs\" not found");
  EXPECT_EQ(status_message(already_exists(maps, "one")), "configmaps \"one\" already exists");
  EXPECT_EQ(status_message(conflict(maps, "p", "the object has been modified")),
            "Operation cannot be fulfilled on configmaps \"p\": the object has been modified");
  EXPECT_EQ(status_message(forbidden(queues, "x", "User \"bob\" cannot delete")),
            "clusterqueues.kueue.x-k8s.io \"x\" is forbidden: User \"bob\" cannot delete");
  EXPECT_EQ(status_message(forbidden(maps, "", "User \"bob\" cannot list")),
            "configmaps is forbidden: User \"bob\" cannot list");
  EXPECT_EQ(status_reason(bad_request("no")), "BadRequest");
  EXPECT_EQ(status_reason({200, *parse_json(R"({"kind":"Pod","reason":"x"})"), {}}), "");
}

}  // namespace
}  // namespace berth::api::field_error_test
