// Helpers to write schemas and objects in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver::schema_support {

inline Json yaml(std::string_view text) {
  auto documents = parse_yaml(text);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << (documents ? "not one document" : documents.error().message);
    return Json();
  }
  return documents->front();
}

inline SchemaPtr schema(std::string_view text) {
  api::FieldErrors errors;
  SchemaPtr compiled = compile_schema(yaml(text), "schema", errors);
  EXPECT_TRUE(errors.empty()) << api::to_string(errors);
  return compiled;
}

inline std::string errors_of_schema(std::string_view text) {
  api::FieldErrors errors;
  compile_schema(yaml(text), "schema", errors);
  return errors.empty() ? "" : api::to_string(errors);
}

inline std::vector<std::string> texts(const api::FieldErrors& errors) {
  std::vector<std::string> out;
  for (const api::FieldError& error : errors) out.push_back(api::to_string(error));
  return out;
}

}  // namespace berth::apiserver::schema_support
