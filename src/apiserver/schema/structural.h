// What a structural schema does to an object: pruning, defaults, validation. Order of a custom resource's write:
// decode, prune, default, (convert), admission, validate, list uniqueness, rules (CEL).
#pragma once

#include <string>
#include <vector>

#include "api/field_error.h"
#include "apiserver/schema/schema.h"
#include "base/json.h"

namespace berth::apiserver {

// From an OpenAPI v3 schema document as CustomResourceDefinitions carry it. Errors are those a server answers for a
// CRD whose schema is not structural; paths start with `path`.
SchemaPtr compile_schema(const Json& openapi, std::string_view path, api::FieldErrors& errors);
// And back: the OpenAPI v3 form (with x-kubernetes-* extensions) of a schema.
Json to_openapi(const Schema& schema);

// Removes members that the schema does not know (apiVersion, kind, metadata at the root and in embedded resources stay);
// appends their paths ("spec.foo", "spec.list[0].foo") to `unknown`.
void prune(Json& object, const Schema& schema, bool is_root, std::vector<std::string>* unknown);
// Fills defaults, also inside of existing lists and maps; a null where null is not allowed is dropped first when it has a default.
void apply_defaults(Json& object, const Schema& schema);
// Types of built-in kinds are checked on decoding (400); the error's text is the decoder's.
Result<void> check_types(const Json& object, const Schema& schema);
// Types, formats, limits, enums, list sets and maps. `old` (may be null) is for ratcheting: parts of `object` that are
// equal to the same part of `old` are not reported.
api::FieldErrors validate_schema(const Json& object, const Json* old, const Schema& schema, std::string_view path);
// x-kubernetes-validations of the schema and all below it; transition rules need `old`. Called when validate_schema found nothing.
api::FieldErrors validate_rules(const Json& object, const Json* old, const Schema& schema, std::string_view path);

// ObjectMeta as a schema (used for apply and OpenAPI of every kind).
SchemaPtr meta_schema();

}  // namespace berth::apiserver
