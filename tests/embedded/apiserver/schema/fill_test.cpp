// Pruning, defaulting, list uniqueness and the type errors of decoding.
#include <gmock/gmock.h>

#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::fill_test {
namespace {

using schema_support::schema;
using schema_support::texts;
using schema_support::yaml;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kSchema = R"(
type: object
properties:
  spec:
    type: object
    properties:
      n: {type: integer, default: 3}
      s: {type: string}
      nul: {type: string, nullable: true}
      o: {type: object, default: {}, properties: {p: {type: string, default: q}}}
      l:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [k]
        items: {type: object, required: [k], properties: {k: {type: string}, d: {type: integer, default: 1}}}
      set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      m: {type: object, additionalProperties: {type: object, properties: {d: {type: integer, default: 1}}}}
      any: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object}}}
      e:
        type: object
        x-kubernetes-embedded-resource: true
        properties: {spec: {type: object}}
)";

Json filled(std::string_view text) {
  Json object = yaml(text);
  apply_defaults(object, *schema(kSchema));
  return object;
}

TEST(ApplyDefaults, FillsObjectsListsAndMapsThatExist) {
  EXPECT_EQ(to_string(filled("{spec: {}}")), R"({"spec":{"n":3,"o":{"p":"q"}}})");
  EXPECT_EQ(to_string(filled("{}")), "{}");
  EXPECT_EQ(to_string(filled("{spec: {n: 1, o: {}, l: [{k: a}], m: {x: {}}}}")),
            R"({"spec":{"n":1,"o":{"p":"q"},"l":[{"k":"a","d":1}],"m":{"x":{"d":1}}}})");
}

TEST(ApplyDefaults, ReplacesOrDropsNullsThatMayNotBe) {
  EXPECT_EQ(to_string(filled("{spec: {n: null, s: null, nul: null, o: {}}}")),
            R"({"spec":{"n":3,"nul":null,"o":{"p":"q"}}})");
}

TEST(Prune, RemovesAndNamesWhatTheSchemaDoesNotKnow) {
  Json object = yaml(R"({apiVersion: v1, kind: K, metadata: {x: 1}, zz: 1,
      spec: {zzz: 1, any: {free: {deep: 1}, known: {gone: 1}}, l: [{k: a}, {k: b, bad: 1}],
             e: {apiVersion: v1, kind: P, metadata: {name: a}, spec: {gone: 1}, bad: 1}, m: {x: {bad: 1}}}})");
  std::vector<std::string> unknown;
  prune(object, *schema(kSchema), true, &unknown);
  EXPECT_THAT(unknown, ElementsAre("spec.any.known.gone", "spec.e.bad", "spec.e.spec.gone", "spec.l[1].bad",
                                   "spec.m.x.bad", "spec.zzz", "zz"));
  EXPECT_EQ(
      to_string(object),
      R"({"apiVersion":"v1","kind":"K","metadata":{"x":1},"spec":{"any":{"free":{"deep":1},"known":{}},)"
      R"("l":[{"k":"a"},{"k":"b"}],"e":{"apiVersion":"v1","kind":"P","metadata":{"name":"a"},"spec":{}},"m":{"x":{}}}})");
}

TEST(ListTypes, NameTheSecondOfTwo) {
  api::FieldErrors errors;
  check_list_types(yaml("spec: {l: [{k: a}, {k: b}, {k: a, d: 2}], set: [x, y, x, x]}"), *schema(kSchema), "", errors);
  EXPECT_THAT(texts(errors),
              ElementsAre("spec.l[2]: Duplicate value: {\"k\":\"a\"}", "spec.set[2]: Duplicate value: \"x\""));
}

TEST(CheckTypes, SpeaksAsATypedDecoder) {
  auto node = schema(R"(
type: object
properties:
  metadata: {type: object}
  data: {type: object, additionalProperties: {type: string}}
  spec: {type: object, properties: {parallelism: {type: integer, format: int32}, names: {type: array, items: {type: string}}}}
)");
  auto said = [&](std::string_view text) {
    auto result = check_types(yaml(text), *node);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(said("{kind: ConfigMap, data: {a: 1}}"),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
  EXPECT_EQ(said("{kind: Job, spec: {parallelism: x}}"),
            "json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32");
  EXPECT_EQ(said("{kind: Job, spec: {names: {}}}"),
            "json: cannot unmarshal object into Go struct field JobSpec.spec.names of type []string");
  EXPECT_EQ(said("{kind: Job, spec: {names: null, parallelism: 3}}"), "");
}

TEST(MetaSchema, DescribesWhatEveryObjectHas) {
  Json meta = yaml(
      "{name: a, labels: {x: y}, finalizers: [f], ownerReferences: [{apiVersion: v1, kind: K, name: n, uid: "
      "u}]}");
  EXPECT_THAT(validate_schema(meta, nullptr, *meta_schema(), "metadata"), IsEmpty());
  EXPECT_EQ(meta_schema()->properties.at("ownerReferences")->patch_merge_key, "uid");
}

}  // namespace
}  // namespace berth::apiserver::fill_test
