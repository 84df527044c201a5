// The form in which objects of built-in kinds are stored: what a typed decoder and its defaults make of a
// client's text.
#pragma once

#include "apiserver/schema/schema.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::apiserver {

// Makes quantities and times canonical, drops nulls and values that equal their absence, fills constant
// defaults and the members that every object has. Members of a type other than the schema's are left alone.
// Idempotent. Errors are those of a decoder, e.g. "illegal base64 data at input byte 0".
Result<void> to_stored_form(Json& object, const Schema& schema);

// The object that has nothing but the members every object has.
Json zero_object(const Schema& schema);

}  // namespace berth::apiserver
