// Server-side apply and updates: who owns which fields.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "embedded/apiserver/patch/applied.h"
#include "embedded/apiserver/patch/schemas.h"

namespace berth::apiserver::apply_test {
namespace {

using namespace apply_tests;
using patch_tests::config_map;
using patch_tests::everything;

using Texts = std::vector<std::string>;

TEST(Apply, FollowsTheLifeOfASharedObject) {
  Applied x(config_map());
  EXPECT_EQ(x.apply("one", "{data: {a: '1', b: '2'}}"), "");
  EXPECT_EQ(x.owners(), Texts{"one applied@0 .data.a .data.b"});

  x.clock_ = 1;
  EXPECT_EQ(x.apply("one", "{data: {a: '1', b: '2'}}"), "");
  EXPECT_EQ(x.owners(), Texts{"one applied@0 .data.a .data.b"}) << "nothing changed, the time neither";

  EXPECT_EQ(x.apply("two", "{data: {c: '3'}}"), "");
  EXPECT_EQ(x.apply("two", "{data: {a: '9', c: '3'}}"), "\"one\": .data.a\n");
  EXPECT_EQ(x.content(), yaml("{data: {a: '1', b: '2', c: '3'}}")) << "a conflict changes nothing";

  EXPECT_EQ(x.apply("two", "{data: {a: '1', c: '3'}}"), "") << "the same value is shared";
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .data.a .data.b", "two applied@1 .data.a .data.c"}));

  x.clock_ = 2;
  EXPECT_EQ(x.apply("two", "{data: {a: '9', c: '3'}}", true), "");
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .data.b", "two applied@2 .data.a .data.c"}));

  EXPECT_EQ(x.apply("two", "{data: {a: '9'}}"), "");
  EXPECT_EQ(x.content(), yaml("{data: {a: '9', b: '2'}}")) << "what is no longer applied goes";

  x.merge("three", "{data: {b: '5'}}");
  EXPECT_EQ(x.owners(), (Texts{"two applied@2 .data.a", "three updated@2 .data.b"}));
  EXPECT_EQ(x.apply("one", "{data: {b: '2'}}"), "\"three\" using v1: .data.b\n");
}

TEST(Apply, AnObjectWithoutOwnersBelongsToItsPast) {
  Applied x(config_map());
  EXPECT_EQ(x.apply("one", "{data: {a: '1', b: '2'}}"), "");
  x.merge("z", "{metadata: {managedFields: [{}]}}");
  EXPECT_EQ(x.owners(), Texts{});
  x.merge("z", "{data: {b: '3'}}");
  EXPECT_EQ(x.owners(), Texts{}) << "updates do not begin to own fields of an object without owners";
  EXPECT_EQ(x.apply("one", "{data: {a: '9'}}"), "\"before-first-apply\" using v1: .data.a\n");
  EXPECT_EQ(x.apply("one", "{data: {a: '1'}}"), "");
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .data.a", "before-first-apply updated@0 .data .data.a .data.b"}));
}

TEST(Apply, RefusesWhatCannotBeApplied) {
  const struct {
    const char *config, *says;
    int code;
  } cases[] = {
      {"{metadata: {name: x}}", "400 invalid object type: /, Kind=", 400},
      {"{apiVersion: v2, kind: Thing}",
       "400 Incorrect version specified in apply patch. Specified patch version: v2, "
       "expected: v1",
       400},
      {"{apiVersion: v1, kind: Thing, metadata: {managedFields: []}}", "400 metadata.managedFields must be nil", 400},
      {"{apiVersion: v1, kind: Thing, metadata: {name: x}, dta: {}}",
       "500 failed to create typed patch object (/x; /v1, Kind=Thing): .dta: field not declared in schema", 500},
      {"{apiVersion: v1, kind: Thing, metadata: {name: w, namespace: apply}, status: {conditions: [{type: "
       "A}, {type: A}]}}",
       "500 failed to create typed patch object (apply/w; /v1, Kind=Thing): .status.conditions: duplicate "
       "entries for "
       "key [type=\"A\"]",
       500},
      {"{apiVersion: v1, kind: Thing, spec: {items: [{image: i}]}}",
       "500 failed to create typed patch object (/; /v1, Kind=Thing): .spec.items: element 0: associative "
       "list with keys "
       "has an element that omits key field \"name\" (and doesn't have default value)",
       500},
      {"{apiVersion: v1, kind: Thing, spec: {replicas: many, tags: [{a: b}], args: x}}",
       "500 failed to create typed patch object (/; /v1, Kind=Thing): errors:\n  .spec.replicas: expected "
       "number, got "
       "string\n  .spec.tags: element 0: set elements must be scalars\n  .spec.args: expected list, got "
       "string",
       500},
  };
  for (const auto& c : cases) {
    const auto refused = server_side_apply(nullptr, yaml(c.config), everything(), {"m", "v1", "", at(0)}, false, {});
    ASSERT_FALSE(refused) << c.config;
    EXPECT_EQ(std::to_string(refused.error().code) + " " + refused.error().message, c.says);
  }
}

TEST(Apply, OwnsListMembersByKeyAndByValue) {
  Applied x(everything());
  EXPECT_EQ(x.apply("one",
                    "{spec: {items: [{name: a, ports: [{port: 80}]}], tags: [t], args: [p], selector: {s: t},"
                    " free: {k: {l: 1}}}}"),
            "");
  EXPECT_EQ(x.owners(),
            Texts{"one applied@0 .spec.args .spec.free.k .spec.free.k.l .spec.items[name=\"a\"] "
                  ".spec.items[name=\"a\"].name .spec.items[name=\"a\"].ports[port=80,protocol=\"TCP\"] "
                  ".spec.items[name=\"a\"].ports[port=80,protocol=\"TCP\"].port .spec.selector .spec.tags[=\"t\"]"});
  EXPECT_EQ(x.apply("two", "{spec: {items: [{name: b, image: i}], tags: [u]}}"), "");
  EXPECT_EQ(x.apply("two", "{spec: {args: [q]}}"), "\"one\": .spec.args\n");
  EXPECT_EQ(x.apply("two", "{spec: {selector: {u: v}}}"), "\"one\": .spec.selector\n");
  // The fields that only the first manager owned are removed; the second manager's items stay.
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 1}}"), "");
  EXPECT_EQ(canonical_json(x.content()),
            canonical_json(yaml("{spec: {replicas: 1, items: [{name: b, image: i}], tags: [u]}}")));
}

TEST(Apply, KeepsTheConfigurationsOrderAndTheOthersPlaces) {
  const struct {
    Texts live, config, merged;
  } cases[] = {
      {{"a", "b"}, {"n", "a"}, {"n", "a", "b"}},
      {{"a", "b"}, {"a", "n"}, {"a", "b", "n"}},
      {{"a", "b", "c"}, {"c", "a"}, {"b", "c", "a"}},
      {{"x", "a", "y", "b"}, {"a", "b"}, {"x", "a", "y", "b"}},
      {{"x"}, {"n"}, {"x", "n"}},
  };
  const auto tags = [](const Texts& values) {
    JsonArray list;
    for (const auto& value : values) list.push_back(Json(value));
    return Json{{"spec", {{"tags", list}}}};
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(merge_typed(tags(c.live), tags(c.config), everything())), to_string(tags(c.merged)));
  }
}

TEST(Apply, RemovesAFieldOnlyWhenNobodyElseOwnsIt) {
  Applied x(everything());
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 1, paused: true, items: [{name: a, image: i, limits: {c: '1'}}]}}"), "");
  EXPECT_EQ(x.apply("two", "{spec: {replicas: 1, items: [{name: a, limits: {m: '2'}}]}}"), "");
  EXPECT_EQ(x.apply("one", "{spec: {}}"), "");
  EXPECT_EQ(canonical_json(x.content()),
            canonical_json(yaml("{spec: {replicas: 1, items: [{name: a, limits: {m: '2'}}]}}")));
}

TEST(Apply, ForcedChangesTakeNestedFields) {
  Applied x(everything());
  EXPECT_EQ(x.apply("one", "{spec: {items: [{name: a, image: i}]}}"), "");
  EXPECT_EQ(x.apply("two", "{spec: {items: [{name: a, image: j}]}}"), "\"one\": .spec.items[name=\"a\"].image\n");
  EXPECT_EQ(x.apply("two", "{spec: {items: [{name: a, image: j}]}}", true), "");
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .spec.items[name=\"a\"] .spec.items[name=\"a\"].name",
                               "two applied@0 .spec.items[name=\"a\"] .spec.items[name=\"a\"].image "
                               ".spec.items[name=\"a\"].name"}));
}

TEST(Apply, ResetFieldsAreNeitherAppliedNorOwned) {
  Applied x(everything());
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 1}, status: {phase: Up}}", false, "", {"status"}), "");
  EXPECT_EQ(x.content(), yaml("{spec: {replicas: 1}}"));
  EXPECT_EQ(x.owners(), Texts{"one applied@0 .spec.replicas"});
  EXPECT_EQ(x.apply("one", "{spec: {replicas: 7}, status: {phase: Up}}", false, "status", {"spec"}), "");
  EXPECT_EQ(canonical_json(x.content()), canonical_json(yaml("{spec: {replicas: 1}, status: {phase: Up}}")));
  EXPECT_EQ(x.owners(), (Texts{"one applied@0 .spec.replicas", "one applied status@0 .status.phase"}));
}

TEST(Apply, ConflictsNameSubresourceAndVersion) {
  Applied x(everything(), "batch/v1");
  EXPECT_EQ(x.apply("one", "{status: {phase: Up}}", false, "status"), "");
  x.merge("upd", "{spec: {replicas: 4}}");
  EXPECT_EQ(x.apply("two", "{spec: {replicas: 5}, status: {phase: Down}}"),
            "\"one\" with subresource \"status\": .status.phase\n\"upd\" using batch/v1: .spec.replicas\n");
}

TEST(Apply, KubectlTakesOverWhatItAppliedOnTheClientsSide) {
  Applied x(config_map());
  x.update("kubectl-client-side-apply",
           yaml("{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "
                "'{\"data\":{\"a\":\"1\"}}'}}, data: {a: '1', b: '2'}}"));
  EXPECT_EQ(x.apply("other", "{data: {a: '5'}}"), "\"kubectl-client-side-apply\" using v1: .data.a\n");
  EXPECT_EQ(x.apply("kubectl", "{data: {b: '5'}}"), "\"kubectl-client-side-apply\" using v1: .data.b\n");
  EXPECT_EQ(x.apply("kubectl", "{data: {a: '5'}}"), "");
  const auto record =
      string_at(x.live_, {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  EXPECT_EQ(string_at(parse_json(record).value(), {"data", "a"}), "5");
}

TEST(Update, OwnsWhatItAddedAndChanged) {
  Applied x(everything());
  x.live_ = yaml("{status: {}}");  // the empty form of a built-in kind
  x.update("unknown",
           yaml("{metadata: {labels: {l: m}, finalizers: [e/h]}, spec: {items: [{name: a, limits: {c: '1'}}],"
                " selector: {s: t}, free: {}}, status: {}}"));
  EXPECT_EQ(x.owners(),
            Texts{"unknown updated@0 .metadata.finalizers .metadata.finalizers[=\"e/h\"] .metadata.labels "
                  ".metadata.labels.l .spec .spec.free .spec.items .spec.items[name=\"a\"] "
                  ".spec.items[name=\"a\"].limits .spec.items[name=\"a\"].limits.c .spec.items[name=\"a\"].name "
                  ".spec.selector"});
  x.clock_ = 5;
  x.merge("second", "{spec: {selector: {s: u}}, metadata: {resourceVersion: '7'}}");
  x.merge("unknown", "{metadata: {labels: null}}");
  EXPECT_EQ(x.owners(),
            (Texts{"unknown updated@0 .metadata.finalizers .metadata.finalizers[=\"e/h\"] .spec .spec.free "
                   ".spec.items "
                   ".spec.items[name=\"a\"] .spec.items[name=\"a\"].limits .spec.items[name=\"a\"].limits.c "
                   ".spec.items[name=\"a\"].name",
                   "second updated@5 .spec.selector"}));
}

TEST(Update, NullOfTheEmptyFormIsThereAlready) {
  Json after = yaml("{spec: {items: [{name: a}], replicas: 1}}");
  track_update(yaml("{spec: {items: null}}"), after, everything(), {"m", "v1", "", at(0)}, {});
  EXPECT_EQ(to_string(after.at_pointer("/metadata/managedFields/0/fieldsV1")),
            R"({"f:spec":{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:replicas":{}}})");
}

TEST(Update, OfASubresourceIsAnEntryOfItsOwnAndKeepsTheSentOwnersOut) {
  Applied x(everything());
  x.update("m", yaml("{spec: {replicas: 1}}"), "", {"status"});
  Json after = x.live_;
  ensure_path(after, {"status", "phase"}) = "Up";
  ensure_path(after, {"metadata", "managedFields"}) = JsonArray{JsonObject()};
  x.update("m", after, "status");
  EXPECT_EQ(x.owners(), (Texts{"m updated@0 .spec .spec.replicas", "m updated status@0 .status .status.phase"}));
}

TEST(Update, ChangesOfTheFormOfAValueMoveItsFields) {
  Applied x(everything());
  x.update("one", yaml("{spec: {free: {a: {b: 1}}}}"));
  x.merge("two", "{spec: {free: {a: [1]}}}");
  EXPECT_EQ(x.owners(), (Texts{"one updated@0 .spec .spec.free", "two updated@0 .spec.free.a"}));
}

TEST(Update, TheOldestOfTooManyUpdatersBecomeAncient) {
  Applied x(config_map());
  x.update("m0", yaml("{data: {k0: v}}"));
  for (int i = 1; i < 12; ++i) {
    x.clock_ = i;
    x.merge("m" + std::to_string(i), "{data: {k" + std::to_string(i) + ": v}}");
  }
  const auto owners = x.owners();
  ASSERT_EQ(owners.size(), 10u);
  EXPECT_EQ(owners.front(), "ancient-changes updated@2 .data .data.k0 .data.k1 .data.k2");
  EXPECT_EQ(owners.back(), "m11 updated@11 .data.k11");
}

}  // namespace
}  // namespace berth::apiserver::apply_test
