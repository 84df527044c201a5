// Parses JSON from API servers and drops the parts that Berth does not use.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth {

// As parse_json, but drops metadata.managedFields at every depth: it is often half of an object.
Result<Json> parse_lean_json(std::string_view text, const JsonLimits& limits = {});

// Parses an object and keeps only its metadata, without managedFields: {"metadata": {...}}, or {} when it has none.
Result<Json> parse_metadata(std::string_view text, const JsonLimits& limits = {});

}  // namespace berth
