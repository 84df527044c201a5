// Reading what API servers send without what nobody here asks for.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth {

// As parse_json, without metadata.managedFields wherever it stands: often half of an object.
Result<Json> parse_lean_json(std::string_view text, const JsonLimits& limits = {});

// Of a text that is an object its metadata alone, also without managedFields: {"metadata": {...}}, or {} when it has none.
Result<Json> parse_metadata(std::string_view text, const JsonLimits& limits = {});

}  // namespace berth
