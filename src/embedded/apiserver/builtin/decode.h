// Converts an object of a built-in kind to its stored form: the result of Go's typed decoder and the defaults.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

// Makes quantities and times canonical, drops nulls and zero values that mean the same as absent, fills constant
// defaults and the members that every object has. Leaves members alone whose type does not match the schema.
// Idempotent. Errors are those of Go's decoder, for example "illegal base64 data at input byte 0".
Result<void> to_stored_form(Json& object, const Schema& schema);

// An object with only the members that every object has.
Json zero_object(const Schema& schema);

}  // namespace berth::apiserver
