// Properties of schemas, with random schemas and random objects of roughly matching shape.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::schema_property_test {
namespace {

using Gen = rc::Gen<Json>;

rc::Gen<std::string> name() { return rc::gen::element<std::string>("a", "b", "c", "d"); }

Json random_scalar() {
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return Json(*rc::gen::inRange(-3, 12));
    case 1:
      return Json(*name());
    case 2:
      return Json(*rc::gen::arbitrary<bool>());
    case 3:
      return Json(0.5 * *rc::gen::inRange(-4, 5));
    case 4:
      return Json(nullptr);
    default:
      return Json(std::string(static_cast<std::size_t>(*rc::gen::inRange(0, 9)), 'x'));
  }
}

Json random_value(int depth) {
  const int kind = depth > 0 ? *rc::gen::inRange(0, 4) : 0;
  if (kind < 2) return random_scalar();
  const int count = *rc::gen::inRange(0, 4);
  if (kind == 2) {
    JsonArray out;
    for (int i = 0; i < count; ++i) out.push_back(random_value(depth - 1));
    return out;
  }
  JsonObject out;
  for (int i = 0; i < count; ++i) out[*name()] = random_value(depth - 1);
  return out;
}

Json scalar_schema() {
  JsonObject out;
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      out = {{"type", "integer"}, {"minimum", *rc::gen::inRange(-2, 3)}};
      if (*rc::gen::arbitrary<bool>()) out["default"] = 3;
      break;
    case 1:
      out = {{"type", "string"}, {"maxLength", *rc::gen::inRange(3, 8)}};
      if (*rc::gen::arbitrary<bool>()) out["default"] = "abc";
      if (*rc::gen::arbitrary<bool>()) out["pattern"] = "^[a-c]*$";
      break;
    case 2:
      out = {{"type", "boolean"}};
      break;
    case 3:
      out = {{"type", "number"}, {"multipleOf", 0.5}};
      break;
    default:
      out = {{"x-kubernetes-int-or-string", true}};
      break;
  }
  if (*rc::gen::arbitrary<bool>()) out["nullable"] = true;
  return out;
}

Json random_schema(int depth) {
  if (depth == 0 || *rc::gen::inRange(0, 4) == 0) return scalar_schema();
  JsonObject out;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return JsonObject{{"type", "array"}, {"maxItems", 3}, {"items", random_schema(depth - 1)}};
    case 1:
      return JsonObject{{"type", "object"}, {"additionalProperties", random_schema(depth - 1)}};
    case 2:
      return JsonObject{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    default:
      break;
  }
  JsonObject properties;
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) properties[*name()] = random_schema(depth - 1);
  if (!properties.empty() && *rc::gen::arbitrary<bool>()) out["required"] = JsonArray{Json(properties.begin()->key())};
  out["type"] = "object";
  if (!properties.empty()) out["properties"] = std::move(properties);
  return out;
}

SchemaPtr compiled(const Json& document) {
  api::FieldErrors errors;
  SchemaPtr schema = compile_schema(document, "schema", errors);
  if (!errors.empty()) RC_FAIL(api::to_string(errors));
  return schema;
}

Json root_schema() { return JsonObject{{"type", "object"}, {"properties", JsonObject{{"spec", random_schema(3)}}}}; }
Json random_object() { return JsonObject{{"kind", "K"}, {"spec", random_value(4)}, {"zz", 1}}; }

RC_GTEST_PROP(SchemaLaws, PruningTwiceIsPruningOnce, ()) {
  const SchemaPtr schema = compiled(root_schema());
  Json once = random_object();
  prune(once, *schema, true, nullptr);
  Json twice = once;
  std::vector<std::string> unknown;
  prune(twice, *schema, true, &unknown);
  RC_ASSERT(unknown.empty());
  RC_ASSERT(to_string(twice) == to_string(once));
}

RC_GTEST_PROP(SchemaLaws, FillingDefaultsTwiceIsFillingThemOnce, ()) {
  const SchemaPtr schema = compiled(root_schema());
  Json once = random_object();
  apply_defaults(once, *schema);
  Json twice = once;
  apply_defaults(twice, *schema);
  RC_ASSERT(to_string(twice) == to_string(once));
}

RC_GTEST_PROP(SchemaLaws, DefaultsAddNoUnknownFields, ()) {
  const SchemaPtr schema = compiled(root_schema());
  Json object = random_object();
  prune(object, *schema, true, nullptr);
  apply_defaults(object, *schema);
  std::vector<std::string> unknown;
  prune(object, *schema, true, &unknown);
  RC_ASSERT(unknown.empty());
}

RC_GTEST_PROP(SchemaLaws, TheOpenApiFormCompilesToItself, ()) {
  const Json document = root_schema();
  const Json once = to_openapi(*compiled(document));
  RC_ASSERT(json_equal(once, document));
  RC_ASSERT(canonical_json(to_openapi(*compiled(once))) == canonical_json(once));
}

RC_GTEST_PROP(SchemaLaws, WhatWasThereBeforeIsNeverAnError, ()) {
  const SchemaPtr schema = compiled(root_schema());
  const Json object = random_object();
  RC_ASSERT(validate_schema(object, &object, *schema, "").empty());
}

RC_GTEST_PROP(SchemaLaws, RatchetingOnlyTakesErrorsAway, ()) {
  const SchemaPtr schema = compiled(root_schema());
  const Json object = random_object(), old = random_object();
  RC_ASSERT(validate_schema(object, &old, *schema, "").size() <= validate_schema(object, nullptr, *schema, "").size());
}

}  // namespace
}  // namespace berth::apiserver::schema_property_test
