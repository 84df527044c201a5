// Namespaces, config maps, secrets, nodes, events, leases, priority classes, limit ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "embedded/apiserver/builtin/event_conversion.h"
#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::small_kinds_test {
namespace {

using testing::HasSubstr;

TEST(NewNamespace, HasItsNameAsLabelAndAFinalizer) {
  Json ns =
      Kind("Namespace").created(R"({"metadata":{"name":"a","labels":{"x":"y"}},"status":{"phase":"Terminating"}})");
  EXPECT_EQ(to_string(*find_path(ns, {"metadata", "labels"})), R"({"x":"y","kubernetes.io/metadata.name":"a"})");
  EXPECT_EQ(to_string(*find(ns, "spec")), R"({"finalizers":["kubernetes"]})");
  EXPECT_EQ(string_at(ns, {"status", "phase"}), "Active");
}

TEST(ConfigMapValidation, BoundsSizeAndKeys) {
  Kind maps("ConfigMap");
  EXPECT_EQ(maps.create_errors(R"({"data":{"a":"1"},"binaryData":{"b":"Yg=="}})"), "");
  EXPECT_THAT(maps.create_errors(R"({"data":{"a/b":"1"}})"), HasSubstr("data[a/b]: Invalid value: \"a/b\""));
  EXPECT_THAT(maps.create_errors(R"({"data":{"a":"1"},"binaryData":{"a":"Yg=="}})"),
              HasSubstr("duplicate of key present in binaryData"));
  std::string big = R"({"data":{"a":")" + std::string((1 << 20) + 1, 'x') + R"("}})";
  EXPECT_EQ(maps.create_errors(big), "[]: Too long: may not be more than 1048576 bytes");
}

TEST(ImmutableData, StaysAsItIs) {
  for (const char* kind : {"ConfigMap", "Secret"}) {
    Json old = Kind(kind).created(R"({"metadata":{"name":"a"},"immutable":true,"data":{"a":"Yg=="}})");
    Json next = old;
    ensure_path(next, {"data", "a"}) = "YQ==";
    EXPECT_EQ(Kind(kind).update_errors(next, old), "data: Forbidden: field is immutable when `immutable` is set")
        << kind;
    next = old;
    next.as_object().erase("immutable");
    EXPECT_THAT(Kind(kind).update_errors(next, old), HasSubstr("immutable: Forbidden")) << kind;
  }
}

TEST(SecretValidation, AsksForTheKeysOfItsType) {
  Kind secrets("Secret");
  EXPECT_THAT(secrets.create_errors(R"({"type":"kubernetes.io/tls","data":{"tls.crt":""}})"),
              HasSubstr("data[tls.key]: Required value"));
  Json old = secrets.created(R"({"metadata":{"name":"a"},"type":"x"})");
  Json next = old;
  next.as_object()["type"] = "y";
  EXPECT_THAT(secrets.update_errors(next, old), HasSubstr("type: Invalid value: \"y\": field is immutable"));
}

TEST(NewNode, KeepsItsStatusAndIsNotReadyAtFirst) {
  Json node = Kind("Node").created(R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]},
      "status":{"capacity":{"cpu":"4"}}})");
  EXPECT_EQ(array_at(node, {"spec", "taints"}).size(), 2U);
  EXPECT_EQ(string_at(node, {"status", "allocatable", "cpu"}), "4");
  EXPECT_EQ(to_string(*find_path(node, {"status", "daemonEndpoints"})), R"({"kubeletEndpoint":{"Port":0}})");
  EXPECT_THAT(
      Kind("Node").create_errors(R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"Nope"}]}})"),
      HasSubstr("metadata.taints[0].effect: Unsupported value: \"Nope\""));
  EXPECT_THAT(Kind("Node").create_errors(
                  R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"NoSchedule"},
              {"key":"k","effect":"NoSchedule"}]}})"),
              HasSubstr("metadata.taints[1]: Duplicate value"));
}

TEST(PriorityClassRules, ProtectValuesAndTheDefault) {
  Kind classes("PriorityClass", "scheduling.k8s.io");
  Json old = classes.created(R"({"metadata":{"name":"a"},"value":5})");
  EXPECT_EQ(string_at(old, {"preemptionPolicy"}), "PreemptLowerPriority");
  Json next = old;
  next.as_object()["value"] = 6;
  EXPECT_EQ(classes.update_errors(next, old), "value: Forbidden: may not be changed in an update.");
  EXPECT_THAT(classes.create_errors(R"({"metadata":{"name":"a"},"value":2000000000})"),
              HasSubstr("maximum allowed value"));
  EXPECT_THAT(classes.create_errors(R"({"metadata":{"name":"system-a"},"value":1})"),
              HasSubstr("reserved for system use only"));
  World world;
  world.add("priorityclasses", R"({"metadata":{"name":"b"},"globalDefault":true})");
  api::RestResponse refusal;
  classes.created(R"({"metadata":{"name":"a"},"value":1,"globalDefault":true})", world, &refusal);
  EXPECT_EQ(refusal.code, 403);
  EXPECT_THAT(to_string(refusal.body), HasSubstr("PriorityClass b is already marked as default"));
}

TEST(LeaseValidation, AsksForPositiveDurations) {
  EXPECT_EQ(
      Kind("Lease", "coordination.k8s.io").create_errors(R"({"spec":{"holderIdentity":"a","leaseDurationSeconds":0}})"),
      "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0");
  EXPECT_EQ(Kind("Lease", "coordination.k8s.io")
                .create_errors(R"({"spec":{"holderIdentity":"a","leaseDurationSeconds":15}})"),
            "");
}

TEST(LimitRangeValidation, AsksForOrder) {
  Kind ranges("LimitRange");
  EXPECT_THAT(ranges.create_errors(R"({"spec":{"limits":[{"type":"Container","min":{"cpu":"2"},"max":{"cpu":"1"}}]}})"),
              HasSubstr("spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1"));
  EXPECT_THAT(ranges.create_errors(R"({"spec":{"limits":[{"type":"Pod","default":{"cpu":"2"}}]}})"),
              HasSubstr("may not be specified when `type` is 'Pod'"));
  Json range = ranges.created(R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"4"}}]}})");
  EXPECT_THAT(to_string(range), HasSubstr(R"("defaultRequest":{"cpu":"4"})"));
}

TEST(EventValidation, IsStrictForTheNewForm) {
  Kind events("Event", "events.k8s.io");
  const char* kBody =
      R"({"metadata":{"name":"e","namespace":"ns"},"eventTime":"2026-11-21T09:00:00.000000Z","reportingController":"c",
      "reportingInstance":"i","reason":"r","regarding":{"kind":"Pod","namespace":"ns","name":"p"},"type":"Normal"%})";
  auto with = [&](std::string_view more) {
    std::string text = kBody;
    return text.replace(text.find('%'), 1, more);
  };
  EXPECT_EQ(events.create_errors(with("")), "action: Required value");
  EXPECT_EQ(events.create_errors(with(R"(,"action":"a")")), "");
  EXPECT_THAT(events.create_errors(
                  with(R"(,"action":"a","series":{"count":1,"lastObservedTime":"2026-11-21T09:00:00.000000Z"})")),
              HasSubstr("series.count: Invalid value: 1: should be at least 2"));
  EXPECT_EQ(
      Kind("Event").create_errors(R"({"metadata":{"name":"e","namespace":"ns"},"involvedObject":{"namespace":"ns"}})"),
      "");
  EXPECT_THAT(Kind("Event").create_errors(
                  R"({"metadata":{"name":"e","namespace":"ns"},"involvedObject":{"namespace":"other"}})"),
              HasSubstr("does not match event.namespace"));
}

RC_GTEST_PROP(EventConversion, LosesNothingOnTheWayThereAndBack, ()) {
  static const Kind kCore("Event");
  JsonObject event;
  auto text = [] { return Json(*rc::gen::element<std::string>("", "a", "b")); };
  for (const char* key : {"reason", "message", "type", "action", "reportingComponent", "reportingInstance"}) {
    if (*rc::gen::arbitrary<bool>()) event[key] = text();
  }
  if (*rc::gen::arbitrary<bool>()) event["source"] = JsonObject{{"component", "c"}};
  if (*rc::gen::arbitrary<bool>()) event["count"] = *rc::gen::inRange(0, 3);
  if (*rc::gen::arbitrary<bool>()) event["eventTime"] = "2026-11-21T09:00:00.000000Z";
  if (*rc::gen::arbitrary<bool>()) event["involvedObject"] = JsonObject{{"kind", "Pod"}, {"name", "p"}};
  event["apiVersion"] = "v1";
  event["kind"] = "Event";
  Json core = kCore.decoded_json(Json(event));
  Json back = to_core_event(to_events_event(core));
  if (!json_equal(core, back)) RC_FAIL(to_string(core) + "\n" + to_string(back));
}

}  // namespace
}  // namespace berth::apiserver::small_kinds_test
