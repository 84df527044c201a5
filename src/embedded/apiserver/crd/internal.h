// Helpers that the files of this folder share.
#pragma once

#include "api/field_error.h"
#include "base/json.h"
#include "base/result.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

// The schema of the kind CustomResourceDefinition.
SchemaPtr crd_schema();

// Removes keywords that the schema of a CRD does not have, as a typed decoder does.
void drop_unknown_keywords(Json& openapi);

api::FieldErrors validate_crd(const Json& crd);
// Checks immutable fields.
api::FieldErrors validate_crd_update(const Json& crd, const Json& old);

// Fills defaults of spec.conversion; the error is that of a decoder.
Result<void> decode_conversion(Json& crd);
void check_conversion(const Json& crd, api::FieldErrors& errors);

// The schema, if all versions have the same one; null when they differ or there is none. Kubernetes' internal form
// then has only one schema.
const Json* shared_schema(const Json& crd);

}  // namespace berth::apiserver
