// The stored form of objects: canonical, complete, and unchanged by a second decoding.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "embedded/apiserver/builtin/schema_loader.h"
#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::stored_form_test {
namespace {

TEST(StoredForm, MakesQuantitiesCanonical) {
  Json pod = Kind("Pod").decoded(R"({"spec":{"containers":[{"name":"c","image":"i","resources":{
      "requests":{"cpu":1,"memory":"1024Mi","ephemeral-storage":"0.5Gi"},"limits":{"cpu":2.5,"memory":"2e9"}}}]}})");
  const Json& resources = *find(array_at(pod, {"spec", "containers"})[0], "resources");
  EXPECT_TRUE(json_equal(resources, json(R"({"requests":{"cpu":"1","memory":"1Gi","ephemeral-storage":"512Mi"},
                                             "limits":{"cpu":"2500m","memory":"2e9"}})")))
      << to_string(resources);
}

TEST(StoredForm, DropsZeroValuesAndNulls) {
  Json job = Kind("Job", "batch")
                 .decoded(R"({"metadata":{"labels":{}},"spec":{"parallelism":0,"suspend":null,"template":{"spec":{
      "nodeSelector":{},"tolerations":[],"hostNetwork":false,"priorityClassName":"","containers":[]}}},
      "status":{"active":0,"startTime":null,"conditions":[]}})");
  EXPECT_EQ(to_string(*find(job, "status")), "{}");
  EXPECT_EQ(int_at(job, {"spec", "parallelism"}, -1), 0);
  EXPECT_EQ(bool_at(job, {"spec", "suspend"}, true), false);
  const JsonObject& spec = object_at(job, {"spec", "template", "spec"});
  for (const char* key : {"nodeSelector", "tolerations", "hostNetwork", "priorityClassName"})
    EXPECT_FALSE(spec.contains(key)) << key;
}

TEST(StoredForm, CutsTimesToWholeSecondsInUtc) {
  Json job = Kind("Job", "batch").decoded(R"({"status":{"startTime":"2026-11-21T10:00:00.75+01:00"}})");
  EXPECT_EQ(string_at(job, {"status", "startTime"}), "2026-11-21T09:00:00Z");
  Json lease =
      Kind("Lease", "coordination.k8s.io").decoded(R"({"spec":{"renewTime":"2026-11-21T10:00:00.250000+01:00"}})");
  EXPECT_EQ(string_at(lease, {"spec", "renewTime"}), "2026-11-21T09:00:00.250000Z");
}

TEST(StoredForm, RefusesWhatADecoderCannotRead) {
  const std::tuple<const char*, const char*, const char*> kCases[] = {
      {"Secret", R"({"data":{"a":"***"}})", "illegal base64 data at input byte 0"},
      {"Event", R"({"eventTime":"2026-11-21T09:00:00Z"})",
       R"(parsing time "2026-11-21T09:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000")"},
      {"Event", R"({"eventTime":"2026-11-21T09:00:00.25Z"})", R"(cannot parse ".25Z" as ".000000")"},
      {"Secret", R"({"data":{"a":"Yg="}})", "illegal base64 data at input byte 3"},
      {"Secret", R"({"data":{"a":"Yg==Yg=="}})", "illegal base64 data at input byte 4"},
      {"Pod", R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"much"}}}]}})",
       "quantities must match the regular expression"},
      {"Pod", R"({"status":{"startTime":"yesterday"}})", "parsing time \"yesterday\""},
  };
  for (const auto& [kind, text, words] : kCases) {
    Json object = json(text);
    auto done = Kind(kind).strategy().decode(object);
    ASSERT_FALSE(done) << text;
    EXPECT_NE(done.error().message.find(words), std::string::npos) << done.error().message;
  }
}

TEST(StoredForm, FillsDefaultsOfProbesPortsAndVolumes) {
  Json pod = Kind("Pod").decoded(
      R"({"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"r.io:5000/i:v1","ports":[{"containerPort":80}],
      "livenessProbe":{"httpGet":{"port":80}}}],"volumes":[{"name":"e"},{"name":"s","secret":{"secretName":"x"}}]}})");
  const Json& container = array_at(pod, {"spec", "containers"})[0];
  EXPECT_EQ(string_at(container, {"imagePullPolicy"}), "IfNotPresent");
  EXPECT_EQ(string_at(container, {"livenessProbe", "httpGet", "scheme"}), "HTTP");
  EXPECT_EQ(int_at(container, {"livenessProbe", "periodSeconds"}), 10);
  EXPECT_EQ(to_string(array_at(container, {"ports"})[0]), R"({"containerPort":80,"protocol":"TCP","hostPort":80})");
  const JsonArray& volumes = array_at(pod, {"spec", "volumes"});
  EXPECT_TRUE(find(volumes[0], "emptyDir") != nullptr);
  EXPECT_EQ(int_at(volumes[1], {"secret", "defaultMode"}), 420);
}

TEST(StoredForm, WritesStringDataIntoData) {
  Json secret = Kind("Secret").decoded(R"({"stringData":{"a":"b","c":"","d":"abc"},"data":{"a":"eg=="}})");
  EXPECT_EQ(canonical_json(*find(secret, "data")), R"({"a":"Yg==","c":"","d":"YWJj"})");
  EXPECT_EQ(find(secret, "stringData"), nullptr);
  EXPECT_EQ(string_at(secret, {"type"}), "Opaque");
}

// A random value that fits the schema, as a client might send it, with some zero values and nulls.
Json arbitrary(const Schema& schema, int depth) {
  if (*rc::gen::inRange(0, 12) == 0) return nullptr;
  switch (schema.codec) {
    case Codec::kQuantity:
      return Json(*rc::gen::element<std::string>("0", "1", "1500m", "1024Mi", "0.5", "2e3"));
    case Codec::kTime:
      return Json("2026-11-21T09:00:00.25Z");
    case Codec::kMicroTime:
      return Json("2026-11-21T09:00:00.250000Z");
    case Codec::kBytes:
      return Json(*rc::gen::element<std::string>("", "Yg==", "YWJj"));
    case Codec::kPlain:
      break;
  }
  if (schema.int_or_string) return *rc::gen::arbitrary<bool>() ? Json(80) : Json("http");
  switch (schema.type) {
    case SchemaType::kString:
      return Json(*rc::gen::element<std::string>("", "a", "b:1", "Always", "Never"));
    case SchemaType::kInteger:
      return *rc::gen::inRange(0, 5);
    case SchemaType::kBoolean:
      return *rc::gen::arbitrary<bool>();
    case SchemaType::kArray: {
      JsonArray list;
      for (int n = depth <= 0 ? 0 : *rc::gen::inRange(0, 3); n > 0; --n)
        list.push_back(arbitrary(*schema.items, depth - 1));
      return list;
    }
    case SchemaType::kObject: {
      JsonObject object;
      if (depth <= 0) return object;
      if (schema.additional) object["k"] = arbitrary(*schema.additional, depth - 1);
      for (const auto& [name, member] : schema.properties) {
        if (name != "apiVersion" && name != "kind" && *rc::gen::inRange(0, 3) == 0)
          object[name] = arbitrary(*member, depth - 1);
      }
      return object;
    }
    default:
      return nullptr;
  }
}

RC_GTEST_PROP(StoredForm, IsStableUnderASecondDecoding, ()) {
  static const auto kResources = builtin_resources();
  const auto& resource = *rc::gen::elementOf(kResources);
  Json object = arbitrary(*resource->schema, 6);
  if (!object.is_object()) object = JsonObject();
  RC_ASSERT(resource->strategy.decode(object).has_value());
  Json again = object;
  RC_ASSERT(resource->strategy.decode(again).has_value());
  if (!json_equal(object, again)) RC_FAIL(to_string(object) + "\n" + to_string(again));
}

}  // namespace
}  // namespace berth::apiserver::stored_form_test
