#include "serve/reviews.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/yaml.h"
#include "embedded/apiserver/patch/patch.h"

namespace berth::serve::reviews_test {
namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io";

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

const api::kueue::ObjectGetter kNothing = [](const api::GroupVersionResource&, std::string_view, std::string_view) {
  return JsonPtr();
};

Json review_of(std::string_view group, std::string_view resource, std::string_view operation, const Json& now,
               const Json& old = nullptr) {
  return JsonObject{
      {"apiVersion", "admission.k8s.io/v1"},
      {"kind", "AdmissionReview"},
      {"request", JsonObject{{"uid", "u-1"},
                             {"resource", JsonObject{{"group", group}, {"version", "v1beta2"}, {"resource", resource}}},
                             {"operation", operation},
                             {"object", now},
                             {"oldObject", old}}}};
}

Result<Json> ask(Hook hook, std::string_view group, std::string_view resource, const Json& review) {
  const api::kueue::AdmissionPolicy policy;
  return answer_admission(hook, group, resource, review, api::kueue::admission_rules(group, resource),
                          {kNothing, policy});
}

// Checks the frame of the answer and returns its response.
Json response(Hook hook, std::string_view group, std::string_view resource, std::string_view operation, const Json& now,
              const Json& old = nullptr) {
  const Json answer = ask(hook, group, resource, review_of(group, resource, operation, now, old)).value();
  EXPECT_EQ(string_at(answer, {"apiVersion"}), "admission.k8s.io/v1");
  EXPECT_EQ(string_at(answer, {"kind"}), "AdmissionReview");
  EXPECT_EQ(string_at(answer, {"response", "uid"}), "u-1");
  return answer.at("response");
}

TEST(Reviews, DefaultsComeAsAPatch) {
  const Json job = object(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}, "
      "spec: {suspend: false}}");
  const Json answer = response(Hook::kMutate, "batch", "jobs", "CREATE", job);
  EXPECT_TRUE(bool_at(answer, {"allowed"}));
  EXPECT_EQ(string_at(answer, {"patchType"}), "JSONPatch");
  const std::string patch = base64_decode(string_at(answer, {"patch"})).value();
  EXPECT_EQ(patch, R"([{"op":"replace","path":"/spec/suspend","value":true}])");
  EXPECT_TRUE(bool_at(apiserver::apply_json_patch(job, parse_json(patch).value()).value(), {"spec", "suspend"}));
}

TEST(Reviews, WithoutADifferenceThereIsNoPatch) {
  const Json job = object("{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a}}");
  const Json answer = response(Hook::kMutate, "batch", "jobs", "CREATE", job);
  EXPECT_TRUE(bool_at(answer, {"allowed"}));
  EXPECT_EQ(find(answer, "patch"), nullptr);
  EXPECT_EQ(find(answer, "patchType"), nullptr);
}

TEST(Reviews, DefaultsAreForCreationAlone) {
  const Json queue = object("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {}}");
  EXPECT_NE(find(response(Hook::kMutate, kKueue, "clusterqueues", "CREATE", queue), "patch"), nullptr);
  EXPECT_EQ(find(response(Hook::kMutate, kKueue, "clusterqueues", "UPDATE", queue, queue), "patch"), nullptr);
}

TEST(Reviews, RefusalsCarryAStatusWithACausePerField) {
  const Json queue = object(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {fairSharing: {weight: "
      "'-1'}}}");
  const Json answer = response(Hook::kValidate, kKueue, "clusterqueues", "CREATE", queue);
  EXPECT_FALSE(bool_at(answer, {"allowed"}, true));
  EXPECT_EQ(int_at(answer, {"status", "code"}), 403);
  EXPECT_EQ(string_at(answer, {"status", "reason"}), "Forbidden");
  EXPECT_EQ(string_at(answer, {"status", "message"}),
            "spec.fairSharing.weight: Invalid value: \"-1\": must be greater than or equal to 0");
  ASSERT_EQ(array_at(answer, {"status", "details", "causes"}).size(), 1u);
  EXPECT_EQ(string_at(array_at(answer, {"status", "details", "causes"})[0], {"field"}), "spec.fairSharing.weight");
}

TEST(Reviews, UpdatesAreJudgedAgainstWhatWas) {
  const std::string_view text =
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a, labels: {kueue.x-k8s.io/queue-name: q}}, "
      "spec: {suspend: false}}";
  const Json old = object(text);
  Json moved = old;
  moved.at("metadata").at("labels").at("kueue.x-k8s.io/queue-name") = "other";
  EXPECT_TRUE(bool_at(response(Hook::kValidate, "batch", "jobs", "UPDATE", old, old), {"allowed"}));
  EXPECT_FALSE(bool_at(response(Hook::kValidate, "batch", "jobs", "UPDATE", moved, old), {"allowed"}, true));
  EXPECT_TRUE(bool_at(response(Hook::kValidate, "batch", "jobs", "CREATE", moved), {"allowed"}));
}

// 403 is for Kueue's webhooks only; other rules refuse with 422.
TEST(Reviews, RulesOfOthersRefuseAsInvalid) {
  api::kueue::AdmissionRules rules;
  rules.check = [](const Json&, const Json*, std::string_view, const api::kueue::AdmissionContext&) {
    return api::FieldErrors{api::required("spec.size", "none")};
  };
  const Json review = review_of("a.example", "things", "CREATE", object("{kind: Thing, metadata: {generateName: t-}}"));
  const Json refused =
      answer_admission(Hook::kValidate, "a.example", "things", review, rules, {kNothing, {}}).value().at("response");
  EXPECT_EQ(int_at(refused, {"status", "code"}), 422);
  EXPECT_EQ(string_at(refused, {"status", "message"}),
            "Thing.a.example \"t-\" is invalid: spec.size: Required value: none");
}

TEST(Reviews, DeletionsAndConnectionsAreAllowed) {
  const Json bad = object("{spec: {fairSharing: {weight: '-1'}}}");
  for (const std::string_view operation : {"DELETE", "CONNECT"}) {
    for (const Hook hook : {Hook::kMutate, Hook::kValidate}) {
      EXPECT_TRUE(bool_at(response(hook, kKueue, "clusterqueues", operation, nullptr, bad), {"allowed"}));
    }
  }
}

TEST(Reviews, SubresourcesAreJudgedByTheirOwnRules) {
  const Json queue = object(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {fairSharing: {weight: "
      "'-1'}}}");
  Json review = review_of(kKueue, "clusterqueues", "UPDATE", queue, queue);
  EXPECT_FALSE(bool_at(ask(Hook::kValidate, kKueue, "clusterqueues", review).value(), {"response", "allowed"}, true));
  review.at("request").as_object()["subResource"] = "status";
  EXPECT_TRUE(bool_at(ask(Hook::kValidate, kKueue, "clusterqueues", review).value(), {"response", "allowed"}));
}

TEST(Reviews, MalformedOnesAreSaidToBe) {
  const Json queue = object("{spec: {}}");
  const Json good = review_of(kKueue, "cohorts", "UPDATE", queue, queue);
  const struct {
    std::string_view at;
    Json value;
    std::string_view error;
  } cases[] = {
      {"apiVersion", "admission.k8s.io/v1beta1",
       R"(expected kind AdmissionReview of admission.k8s.io/v1, got "AdmissionReview" of "admission.k8s.io/v1beta1")"},
      {"request", 7, "AdmissionReview: request: expected an object"},
      {"request.uid", "", "AdmissionReview: request.uid: expected text that is not empty"},
      {"request.operation", "PATCH",
       R"(AdmissionReview: request.operation: expected CREATE, UPDATE, DELETE or CONNECT, got "PATCH")"},
      {"request.object", nullptr, "AdmissionReview: request.object: expected an object"},
      {"request.oldObject", JsonArray(), "AdmissionReview: request.oldObject: expected an object"},
  };
  for (const auto& c : cases) {
    Json bad = good;
    Json* at = &bad;
    std::string_view rest = c.at;
    for (std::size_t dot; (dot = rest.find('.')) != std::string_view::npos; rest.remove_prefix(dot + 1))
      at = &at->as_object()[rest.substr(0, dot)];
    at->as_object()[rest] = c.value;
    const auto answer = ask(Hook::kValidate, kKueue, "cohorts", bad);
    ASSERT_FALSE(answer) << c.at;
    EXPECT_EQ(answer.error().message, c.error);
  }
  const auto elsewhere = ask(Hook::kValidate, kKueue, "workloads", good);
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().message.find("expected workloads of group kueue.x-k8s.io, got \"cohorts\""),
            std::string::npos);
}

// --- Conversion.

Json conversion(std::string_view version, JsonArray objects) {
  return JsonObject{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "ConversionReview"},
      {"request", JsonObject{{"uid", "u-2"}, {"desiredAPIVersion", version}, {"objects", std::move(objects)}}}};
}

TEST(Reviews, ObjectsAreConvertedInTheirOrder) {
  const Json old =
      object("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: q}, spec: {cohort: c}}");
  const Json now =
      object("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: r}, spec: {cohortName: c}}");
  const Json answer = answer_conversion(conversion("kueue.x-k8s.io/v1beta2", {old, now})).value();
  EXPECT_EQ(string_at(answer, {"kind"}), "ConversionReview");
  EXPECT_EQ(string_at(answer, {"response", "uid"}), "u-2");
  EXPECT_EQ(string_at(answer, {"response", "result", "status"}), "Success");
  const JsonArray& converted = array_at(answer, {"response", "convertedObjects"});
  ASSERT_EQ(converted.size(), 2u);
  EXPECT_EQ(string_at(converted[0], {"spec", "cohortName"}), "c");
  EXPECT_EQ(converted[0].at("metadata"), old.at("metadata"));
  EXPECT_EQ(converted[1], now);
}

TEST(Reviews, OneThatCannotBeConvertedFailsAll) {
  const Json good = object("{apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort, metadata: {name: c}}");
  const Json bad = object("{apiVersion: kueue.x-k8s.io/v1alpha1, kind: Cohort, metadata: {name: d}}");
  const Json answer = answer_conversion(conversion("kueue.x-k8s.io/v1beta2", {good, bad})).value();
  EXPECT_EQ(string_at(answer, {"response", "result", "status"}), "Failure");
  EXPECT_NE(string_at(answer, {"response", "result", "message"}).find("Cohort d"), std::string_view::npos);
  EXPECT_TRUE(array_at(answer, {"response", "convertedObjects"}).empty());
  const Json foreign = answer_conversion(conversion("example.com/v1", {good})).value();
  EXPECT_EQ(string_at(foreign, {"response", "result", "status"}), "Failure");
}

TEST(Reviews, AConversionWithoutObjectsIsMalformed) {
  Json review = conversion("kueue.x-k8s.io/v1beta2", {});
  EXPECT_TRUE(answer_conversion(review));
  review.at("request").as_object().erase("objects");
  EXPECT_FALSE(answer_conversion(review));
}

TEST(Reviews, RulesMayRefuseADeletion) {
  api::kueue::AdmissionRules rules;
  rules.remove = [](const Json& object, const api::kueue::AdmissionContext&) -> Result<void> {
    if (string_at(object, {"metadata", "name"}) == "kept") return fail("it is needed");
    return {};
  };
  const auto ask_to_delete = [&](const Json& old) {
    return answer_admission(Hook::kValidate, "a.example", "things",
                            review_of("a.example", "things", "DELETE", nullptr, old), rules, {kNothing, {}});
  };
  const Json refused = ask_to_delete(object("metadata: {name: kept}")).value().at("response");
  EXPECT_FALSE(bool_at(refused, {"allowed"}, true));
  EXPECT_EQ(int_at(refused, {"status", "code"}), 403);
  EXPECT_EQ(string_at(refused, {"status", "message"}), "things.a.example \"kept\" is forbidden: it is needed");
  EXPECT_TRUE(bool_at(ask_to_delete(object("metadata: {name: other}")).value(), {"response", "allowed"}));
  EXPECT_EQ(ask_to_delete(nullptr).error().message, "AdmissionReview: request.oldObject: expected an object");
}

}  // namespace
}  // namespace berth::serve::reviews_test
