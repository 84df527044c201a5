// The types in an OpenAPI v3 schema as an API server publishes it, without its rules and limits. For checks of
// expressions; what an API server does with a schema is in embedded/apiserver/schema.
#pragma once

#include "base/json.h"
#include "cel/schema.h"

namespace berth::cel {

// Never fails: what it does not understand (references, nesting below 64 levels) becomes a value of any type, and so
// does an object that may have fields that the schema does not name.
SchemaPtr read_types(const Json& openapi);

}  // namespace berth::cel
