// x-kubernetes-validations in schemas.
#include <gmock/gmock.h>

#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::rules_test {
namespace {

using schema_support::errors_of_schema;
using schema_support::schema;
using schema_support::texts;
using schema_support::yaml;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> errors(std::string_view schema_text, std::string_view object, std::string_view old = "") {
  SchemaPtr compiled = schema(schema_text);
  Json now = yaml(object);
  if (old.empty()) return texts(validate_rules(now, nullptr, *compiled, ""));
  Json before = yaml(old);
  return texts(validate_rules(now, &before, *compiled, ""));
}

constexpr std::string_view kWidget = R"(
type: object
properties:
  spec:
    type: object
    properties:
      n: {type: integer}
      s: {type: string, maxLength: 9}
      imm: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: self == oldSelf, message: may not change}]}
      once: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: '!oldSelf.hasValue() || oldSelf.value() == self', optionalOldSelf: true}]}
      l:
        type: array
        maxItems: 9
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [k]
        items:
          type: object
          required: [k]
          properties: {k: {type: string, maxLength: 9}, v: {type: integer}}
          x-kubernetes-validations: [{rule: '!has(oldSelf.v) || self.v >= oldSelf.v', message: only up}]
      m:
        type: object
        maxProperties: 5
        additionalProperties: {type: integer, x-kubernetes-validations: [{rule: self < 10}]}
    x-kubernetes-validations:
      - {rule: '!has(self.s) || self.n > 1', message: n must be above 1 when s is set, reason: FieldValueForbidden, fieldPath: .n}
      - {rule: '!has(self.l) || self.l.all(i, i.k.size() < 4)', messageExpression: "self.l.size() > 1 ? 'some keys' : 'the key'"}
)";

TEST(Rules, ReportReasonFieldPathAndMessage) {
  EXPECT_THAT(errors(kWidget, "{spec: {n: 1, s: a}}"),
              ElementsAre("spec.n: Forbidden: n must be above 1 when s is set"));
  EXPECT_THAT(errors(kWidget, "{spec: {l: [{k: abcd}]}}"), ElementsAre("spec: Invalid value: the key"));
  EXPECT_THAT(errors(kWidget, "{spec: {m: {a: 1, b: 12}}}"),
              ElementsAre("spec.m[b]: Invalid value: 12: failed rule: self < 10"));
  EXPECT_THAT(errors(kWidget, "{spec: {n: 2, s: a, l: [{k: abc}], m: {}}}"), IsEmpty());
}

TEST(Rules, SayWhenTheyCannotBeEvaluated) {
  EXPECT_THAT(errors(kWidget, "{spec: {s: a}}"),
              ElementsAre("spec: Invalid value: \"object\": no such key: n evaluating rule: n must be above "
                          "1 when s is set"));
}

TEST(Rules, CompareWithTheOldValueWhereThereIsOne) {
  EXPECT_THAT(errors(kWidget, "{spec: {imm: a}}"), IsEmpty());
  EXPECT_THAT(errors(kWidget, "{spec: {imm: a}}", "{spec: {}}"), IsEmpty());
  EXPECT_THAT(errors(kWidget, "{spec: {imm: b}}", "{spec: {imm: a}}"),
              ElementsAre("spec.imm: Invalid value: \"b\": may not change"));
  EXPECT_THAT(errors(kWidget, "{spec: {once: b}}"), IsEmpty());
  EXPECT_THAT(
      errors(kWidget, "{spec: {once: b}}", "{spec: {once: a}}"),
      ElementsAre("spec.once: Invalid value: \"b\": failed rule: !oldSelf.hasValue() || oldSelf.value() == self"));
}

TEST(Rules, FindOldItemsOfMapListsByKey) {
  EXPECT_THAT(errors(kWidget, "{spec: {l: [{k: b, v: 1}, {k: a, v: 5}, {k: c, v: 0}]}}",
                     "{spec: {l: [{k: a, v: 2}, {k: b, v: 3}]}}"),
              ElementsAre("spec.l[0]: Invalid value: only up"));
}

TEST(Rules, LetStandWhatWasWrongBefore) {
  EXPECT_THAT(errors(kWidget, "{spec: {m: {a: 12}, n: 2}}", "{spec: {m: {a: 12}}}"), IsEmpty());
}

TEST(Rules, SeeTheMetadataOfTheObject) {
  constexpr std::string_view kNamed =
      "{type: object, x-kubernetes-validations: [{rule: \"self.metadata.name.startsWith('a') && self.kind == "
      "'K'\", message: bad name}]}";
  EXPECT_THAT(errors(kNamed, "{kind: K, metadata: {name: abc}}"), IsEmpty());
  EXPECT_THAT(errors(kNamed, "{kind: K, metadata: {name: xyz}}"), ElementsAre("<nil>: Invalid value: bad name"));
}

TEST(RulesOfSchemas, MustCompile) {
  EXPECT_EQ(errors_of_schema("{type: object, properties: {spec: {type: object, properties: {a: {type: string}}, "
                             "x-kubernetes-validations: [{rule: self.b == 1}]}}}"),
            "schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self.b == "
            "1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
            "\"OptionalOldSelf\":null}: "
            "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^");
  EXPECT_THAT(errors_of_schema("{type: object, x-kubernetes-validations: [{rule: '1'}]}"),
              ::testing::HasSubstr("must evaluate to a bool"));
  EXPECT_THAT(errors_of_schema("{type: object, x-kubernetes-validations: [{rule: 'true', fieldPath: .zz}]}"),
              ::testing::HasSubstr("fieldPath: Invalid value: \".zz\""));
}

TEST(RulesOfSchemas, MustNotCostTooMuch) {
  EXPECT_EQ(
      errors_of_schema(
          R"x({type: object, properties: {spec: {type: object, properties: {a: {type: array, items: {type: array,
      items: {type: string}}}}, x-kubernetes-validations: [{rule: "self.a.all(x, x.all(y, self.a.all(z, z.all(w, w != y))))"}]}}})x"),
      "[schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by "
      "factor of "
      "more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, "
      "and "
      "strings are declared), schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to "
      "estimated "
      "rule cost total exceeding cost limit for entire OpenAPIv3 schema, schema: Forbidden: x-kubernetes-validations "
      "estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try "
      "simplifying the "
      "rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)]");
}

TEST(RulesOfSchemas, CannotLookForOldItemsOfListsWithoutKeys) {
  EXPECT_THAT(
      errors_of_schema("{type: object, properties: {l: {type: array, maxItems: 3, items: {type: string, maxLength: 3, "
                       "x-kubernetes-validations: [{rule: self == oldSelf}]}}}}"),
      ::testing::HasSubstr("oldSelf cannot be used on the uncorrelatable portion of the schema"));
}

}  // namespace
}  // namespace berth::apiserver::rules_test
