#include <gtest/gtest.h>

#include "embedded/apiserver/http/protobuf.h"

namespace berth::apiserver::http::protobuf_test {
namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}
std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
std::string bytes(int field, const std::string& value) {
  return varint((static_cast<std::uint64_t>(field) << 3) | 2) + varint(value.size()) + value;
}
std::string envelope(const std::string& api_version, const std::string& kind, const std::string& object) {
  return std::string("k8s\0", 4) + bytes(1, bytes(1, api_version) + bytes(2, kind)) + bytes(2, object) + bytes(3, "") +
         bytes(4, "");
}
std::string entry(const std::string& key, const std::string& value) { return bytes(1, key) + bytes(2, value); }
std::string decoded(const std::string& text) {
  const auto object = decode_protobuf(text);
  return object ? to_string(*object) : object.error().message;
}

TEST(Protobuf, ReadsTextsMapsAndBytes) {
  const std::string meta =
      bytes(1, "a") + bytes(2, "") + bytes(3, "ns") + number(7, 0) + bytes(8, "") + bytes(11, entry("l", ""));
  EXPECT_EQ(
      decoded(envelope("v1", "ConfigMap",
                       bytes(1, meta) + bytes(2, entry("k", "v")) + bytes(3, entry("b", "\xff\x01")) + number(4, 1))),
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","labels":{"l":""}},)"
      R"("data":{"k":"v"},"binaryData":{"b":"/wE="},"immutable":true})");
}

TEST(Protobuf, ReadsNestedMessagesListsQuantitiesAndNegativeNumbers) {
  const std::string container =
      bytes(1, "c") + bytes(8, bytes(2, bytes(1, "cpu") + bytes(2, bytes(1, "500m")))) + bytes(3, "x") + bytes(3, "y");
  const std::string tmpl = bytes(2, bytes(2, container) + number(4, 30));
  const std::string spec = number(1, 0) + number(7, static_cast<std::uint64_t>(-1)) + bytes(6, tmpl) + number(10, 0);
  EXPECT_EQ(
      decoded(envelope("batch/v1", "Job", bytes(2, spec))),
      R"({"apiVersion":"batch/v1","kind":"Job","spec":{"parallelism":0,"backoffLimit":-1,"template":{"spec":)"
      R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"500m"}},"command":["x","y"]}],"terminationGracePeriodSeconds":30}},"suspend":false}})");
}

TEST(Protobuf, ReadsTimesAndWhatIsInlined) {
  const std::string lease = bytes(2, bytes(1, "me") + bytes(4, number(1, 1'767'225'600) + number(2, 250'000'000)));
  EXPECT_EQ(
      decoded(envelope("coordination.k8s.io/v1", "Lease", lease)),
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"holderIdentity":"me","renewTime":"2026-01-01T00:00:00.250000Z"}})");
  const std::string volume = bytes(1, "v") + bytes(2, bytes(19, bytes(1, bytes(1, "cm"))));
  EXPECT_EQ(decoded(envelope("v1", "Pod", bytes(2, bytes(1, volume)))),
            R"({"apiVersion":"v1","kind":"Pod","spec":{"volumes":[{"name":"v","configMap":{"name":"cm"}}]}})");
}

TEST(Protobuf, ReportsEventsOfTheTwoGroupsApart) {
  EXPECT_NE(decoded(envelope("v1", "Event", bytes(4, "m"))).find("\"message\":\"m\""), std::string::npos);
  EXPECT_NE(decoded(envelope("events.k8s.io/v1", "Event", bytes(10, "n"))).find("\"note\":\"n\""), std::string::npos);
}

TEST(Protobuf, ReadsKindsOfApplications) {
  const std::string rule = bytes(1, "CREATE") + bytes(2, bytes(1, "batch") + bytes(2, "v1") + bytes(3, "jobs"));
  const std::string service = bytes(1, "ns") + bytes(2, "s") + bytes(3, "/p");
  EXPECT_EQ(
      decoded(envelope("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                       bytes(2, bytes(1, "a.b.c") + bytes(2, bytes(1, service)) + bytes(3, rule)))),
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",)"
      R"("webhooks":[{"name":"a.b.c","clientConfig":{"service":{"namespace":"ns","name":"s","path":"/p"}},)"
      R"("rules":[{"operations":["CREATE"],"apiGroups":["batch"],"apiVersions":["v1"],"resources":["jobs"]}]}]})");
  EXPECT_EQ(
      decoded(envelope("rbac.authorization.k8s.io/v1", "RoleBinding",
                       bytes(2, bytes(1, "User") + bytes(3, "bob")) + bytes(3, bytes(2, "Role") + bytes(3, "r")))),
      R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",)"
      R"("subjects":[{"kind":"User","name":"bob"}],"roleRef":{"kind":"Role","name":"r"}})");
}

TEST(Protobuf, RefusesWhatIsMalformed) {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("k8s\0", 4), std::string("k8s\0\x0a\xff", 6),
        envelope("v1", "Widget", ""), envelope("v1", "ConfigMap", "\x0a\x7f"),
        envelope("v1", "ConfigMap", number(1, 5)), envelope("v1", "ConfigMap", std::string(11, '\xff'))}) {
    EXPECT_NE(decoded(text).find("protobuf error: "), std::string::npos) << decoded(text);
  }
}

}  // namespace
}  // namespace berth::apiserver::http::protobuf_test
