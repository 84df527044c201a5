// What the parts of this folder share.
#pragma once

#include "api/field_error.h"
#include "apiserver/schema/schema.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::apiserver {

// The schema of the kind CustomResourceDefinition.
SchemaPtr crd_schema();

// Removes keywords that are no part of a CRD's schemas, as a typed decoder does.
void drop_unknown_keywords(Json& openapi);

api::FieldErrors validate_crd(const Json& crd);
// What must stay as it is.
api::FieldErrors validate_crd_update(const Json& crd, const Json& old);

// Defaults of spec.conversion; the error is that of a decoder.
Result<void> decode_conversion(Json& crd);
void check_conversion(const Json& crd, api::FieldErrors& errors);

// The schema that all versions share, as internally there is one then; null when they differ or there is
// none.
const Json* shared_schema(const Json& crd);

}  // namespace berth::apiserver
