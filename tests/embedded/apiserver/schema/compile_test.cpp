#include <gmock/gmock.h>

#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::compile_test {
namespace {

using schema_support::errors_of_schema;
using schema_support::schema;
using schema_support::yaml;

struct Case {
  std::string_view name, schema, error;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.schema; }
};

class CompileSchema : public ::testing::TestWithParam<Case> {};

TEST_P(CompileSchema, RefusesWhatIsNotStructural) { EXPECT_EQ(errors_of_schema(GetParam().schema), GetParam().error); }

INSTANTIATE_TEST_SUITE_P(
    All, CompileSchema,
    ::testing::Values(
        Case{"NoType", "properties: {}", "schema.type: Required value: must not be empty at the root"},
        Case{"NoTypeOfAField", "{type: object, properties: {a: {}}}",
             "schema.properties[a].type: Required value: must not be empty for specified object fields"},
        Case{"NoTypeOfItems", "{type: object, properties: {a: {type: array, items: {}}}}",
             "schema.properties[a].items.type: Required value: must not be empty for specified array items"},
        Case{"NoItems", "{type: object, properties: {a: {type: array}}}",
             "schema.properties[a].items: Required value: must be specified"},
        Case{"RootIsNoObject", "type: string", "schema.type: Invalid value: \"string\": must be object at the root"},
        Case{"UnknownType", "{type: object, properties: {a: {type: text}}}",
             "schema.properties[a].type: Unsupported value: \"text\": supported values: \"array\", "
             "\"boolean\", "
             "\"integer\", \"number\", \"object\", \"string\""},
        Case{"Ref", "{type: object, $ref: x}", "schema.$ref: Forbidden: $ref is not supported"},
        Case{"TypeInABranch", "{type: object, properties: {a: {type: string}}, anyOf: [{type: object}]}",
             "schema.anyOf[0].type: Forbidden: must be empty to be structural"},
        Case{"MapKeyNotRequired",
             "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, "
             "x-kubernetes-list-map-keys: [k], "
             "items: {type: object, properties: {k: {type: string}}}}}}",
             "schema.properties[l].items.properties[k].default: Required value: this property is in "
             "x-kubernetes-list-map-keys, so it must have a default or be a required property"},
        Case{"DefaultOfTheWrongType",
             "{type: object, properties: {spec: {type: object, properties: {a: {type: string, default: 3}}}}}",
             "schema.properties[spec].properties[a].default: Invalid value: \"integer\":  in body must be of "
             "type string: "
             "\"integer\""},
        Case{"DefaultWithUnknownFields", "{type: object, properties: {a: {type: object, default: {b: 1}}}}",
             "schema.properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields"},
        Case{"MetadataIsImplied",
             "{type: object, properties: {metadata: {type: object, properties: {labels: {type: object}}}}}",
             "schema.properties[metadata]: Forbidden: must not specify anything other than name and "
             "generateName, but "
             "metadata is implicitly specified"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(CompileSchemaIntOrString, MayNameItsTwoTypesInABranch) {
  EXPECT_EQ(
      errors_of_schema("{type: object, properties: {q: {anyOf: [{type: integer}, {type: string}], pattern: '^[0-9]+$', "
                       "x-kubernetes-int-or-string: true}}}"),
      "");
  EXPECT_EQ(errors_of_schema(
                "{type: object, properties: {q: {allOf: [{anyOf: [{type: integer}, {type: string}]}, {maxLength: "
                "3}], x-kubernetes-int-or-string: true}}}"),
            "");
}

TEST(ToOpenapi, GivesBackWhatWasCompiled) {
  Json document = yaml(R"(
type: object
description: a kind
required: [spec]
properties:
  spec:
    type: object
    properties:
      n: {type: integer, format: int32, minimum: 1, maximum: 9, exclusiveMaximum: true, default: 3}
      l:
        type: array
        maxItems: 4
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [k]
        items: {type: object, required: [k], properties: {k: {type: string, maxLength: 9}}}
      a: {type: array, x-kubernetes-list-type: atomic, items: {type: string, enum: [x, y], nullable: true}}
      q: {anyOf: [{type: integer}, {type: string}], pattern: '^[0-9]+$', x-kubernetes-int-or-string: true}
      p: {type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-map-type: atomic}
      f: {type: number, multipleOf: 0.5}
      m: {type: object, minProperties: 1, additionalProperties: {type: boolean}}
)");
  Json back = to_openapi(*schema(to_yaml(document)));
  EXPECT_TRUE(json_equal(back, document)) << to_yaml(back);
}

}  // namespace
}  // namespace berth::apiserver::compile_test
