// What a structural schema does to an object: pruning, defaulting, validation. Order for a write of a custom
// resource: decode, prune, default, (convert), admission, validate, list uniqueness, rules (CEL).
#pragma once

#include <string>
#include <vector>

#include "api/field_error.h"
#include "base/json.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

// From an OpenAPI v3 schema as a CustomResourceDefinition carries it. Errors are those that an API server returns for
// a CRD whose schema is not structural; their paths start with `path`.
SchemaPtr compile_schema(const Json& openapi, std::string_view path, api::FieldErrors& errors);
// The reverse: the OpenAPI v3 form (with x-kubernetes-* extensions) of a schema.
Json to_openapi(const Schema& schema);

// Removes members that the schema does not specify, and appends their paths ("spec.foo", "spec.list[0].foo") to
// `unknown` unless that is null. Keeps apiVersion, kind and metadata at the root and in embedded resources.
void prune(Json& object, const Schema& schema, bool is_root, std::vector<std::string>* unknown);
// Fills defaults, also inside existing lists and maps. First drops a null that is not allowed where there is a
// default.
void apply_defaults(Json& object, const Schema& schema);
// Types of built-in kinds are checked while decoding (400); the error has the text of the Go decoder.
Result<void> check_types(const Json& object, const Schema& schema);
// Checks types, formats, limits, enums, list sets and maps. `old` (may be null) is for ratcheting: parts of `object`
// that equal the same part of `old` are not reported.
api::FieldErrors validate_schema(const Json& object, const Json* old, const Schema& schema, std::string_view path);
// Evaluates x-kubernetes-validations of the schema and all schemas below it; transition rules need `old`. Call it
// only when validate_schema found no errors.
api::FieldErrors validate_rules(const Json& object, const Json* old, const Schema& schema, std::string_view path);

// The schema of ObjectMeta (used for apply and OpenAPI of every kind).
SchemaPtr meta_schema();

}  // namespace berth::apiserver
