#include <gmock/gmock.h>

#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::validate_test {
namespace {

using schema_support::schema;
using schema_support::texts;
using schema_support::yaml;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The schema of spec in the recordings of CustomResourceDefinitions.
constexpr std::string_view kWidget = R"(
type: object
properties:
  spec:
    type: object
    properties:
      n: {type: integer, minimum: 1, default: 3}
      i32: {type: integer, format: int32}
      s: {type: string, pattern: ^a+$, maxLength: 5}
      e: {type: string, enum: [x, y]}
      l:
        type: array
        minItems: 1
        maxItems: 2
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [k]
        items:
          type: object
          required: [k]
          properties:
            k: {type: string}
            v: {type: string, maxLength: 2}
      io: {x-kubernetes-int-or-string: true}
      m: {type: object, additionalProperties: {type: string}, maxProperties: 2}
      d: {type: string, format: date-time}
      b: {type: string, format: byte}
      nul: {type: string, nullable: true}
      any: {type: object, x-kubernetes-preserve-unknown-fields: true}
      one:
        type: object
        properties: {a: {type: string}, b: {type: string}}
        oneOf: [{required: [a]}, {required: [b]}]
      num: {type: number, exclusiveMinimum: true, minimum: 0, multipleOf: 0.5, maximum: 2000000}
)";

struct Case {
  std::string_view name, spec, error;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.spec; }
};

class ValidateSchema : public ::testing::TestWithParam<Case> {};

TEST_P(ValidateSchema, SaysWhatAServerSays) {
  Json object = yaml("spec: {" + std::string(GetParam().spec) + "}");
  auto errors = texts(validate_schema(object, nullptr, *schema(kWidget), ""));
  if (GetParam().error.empty()) {
    EXPECT_THAT(errors, IsEmpty());
  } else {
    EXPECT_THAT(errors, ElementsAre(std::string(GetParam().error)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ValidateSchema,
    ::testing::Values(
        Case{"Minimum", "n: 0", "spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1"},
        Case{"WholeFloatIsAnInteger", "n: 4.0", ""},
        Case{"TooLongHidesThePattern", "s: bbbbbbb", "spec.s: Too long: may not be more than 5 bytes"},
        Case{"Pattern", "s: b", "spec.s: Invalid value: \"b\": spec.s in body should match '^a+$'"},
        Case{"Enum", "e: z", "spec.e: Unsupported value: \"z\": supported values: \"x\", \"y\""},
        Case{"IntOrStringTakesBoth", "io: 5%", ""},
        Case{"IntOrStringNotBool", "io: true",
             "spec.io: Invalid value: \"boolean\": spec.io in body must be of type integer,string: "
             "\"boolean\""},
        Case{"MapValues", "m: {a: 1}",
             "spec.m.a: Invalid value: \"integer\": spec.m.a in body must be of type string: \"integer\""},
        Case{"MaxProperties", "m: {a: x, b: x, c: x}", "spec.m: Too many: 3: must have at most 2 items"},
        Case{"MinItems", "l: []", "spec.l: Invalid value: 0: spec.l in body should have at least 1 items"},
        Case{"MaxItems", "l: [{k: a}, {k: b}, {k: c}]", "spec.l: Too many: 3: must have at most 2 items"},
        Case{"RequiredInAnItem", "l: [{v: a}]", "spec.l[0].k: Required value"},
        Case{"DateTime", "d: yesterday",
             "spec.d: Invalid value: \"yesterday\": spec.d in body must be of type date-time: \"yesterday\""},
        Case{"Base64", "b: '*'", "spec.b: Invalid value: \"*\": spec.b in body must be of type byte: \"*\""},
        Case{"Null", "s: null", "spec.s: Invalid value: \"null\": spec.s in body must be of type string: \"null\""},
        Case{"NullWhereNullable", "nul: null", ""},
        Case{"Int32", "i32: 3000000000",
             "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
             "spec.i32"},
        Case{"ExclusiveMinimum", "num: 0", "spec.num: Invalid value: 0: spec.num in body should be greater than 0"},
        Case{"MultipleOf", "num: 0.7", "spec.num: Invalid value: 0.7: spec.num in body should be a multiple of 0.5"},
        Case{"MaximumIsPrintedAsGoDoes", "num: 2000001",
             "spec.num: Invalid value: 2000001: spec.num in body should be less than or equal to 2e+06"},
        Case{"TwoOfOneOf", "one: {a: x, b: x}",
             "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found "
             "2 valid "
             "alternatives"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(ValidateSchemaTypes, AFractionIsNoInteger) {
  EXPECT_THAT(
      texts(validate_schema(yaml("spec: {n: 2.5}"), nullptr, *schema(kWidget), "")),
      ElementsAre("spec.n: Invalid value: \"number\": spec.n in body must be of type integer: \"number\"",
                  "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.n"));
}

TEST(ValidateSchemaTypes, NoneOfOneOfNamesTheBranchThatGotFurthest) {
  EXPECT_THAT(
      texts(validate_schema(yaml("spec: {one: {}}"), nullptr, *schema(kWidget), "")),
      ElementsAre("<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found "
                  "none valid",
                  "spec.one.a: Required value"));
}

TEST(ValidateSchemaPaths, AreRelativeInTextsAndAbsoluteInFields) {
  Json status = yaml("pendingWorkloads: x");
  auto node = schema("{type: object, properties: {pendingWorkloads: {type: integer}}}");
  EXPECT_THAT(
      texts(validate_schema(status, nullptr, *node, "status")),
      ElementsAre("status.pendingWorkloads: Invalid value: \"string\": pendingWorkloads in body must be of type "
                  "integer: \"string\""));
}

TEST(ValidateSchemaRatcheting, KeepsWhatWasWrongBefore) {
  auto widget = schema(kWidget);
  Json old = yaml("spec: {n: 0, l: [{k: a, v: long}, {k: b, v: long}]}");
  EXPECT_THAT(validate_schema(yaml("spec: {n: 0, s: a}"), &old, *widget, ""), IsEmpty());
  // Items of a map list are compared with the old item that has the same key.
  EXPECT_THAT(texts(validate_schema(yaml("spec: {l: [{k: b, v: long}, {k: a, v: longer}]}"), &old, *widget, "")),
              ElementsAre("spec.l[1].v: Too long: may not be more than 2 bytes"));
}

}  // namespace
}  // namespace berth::apiserver::validate_test
