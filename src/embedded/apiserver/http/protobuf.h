// Decodes objects of built-in kinds from protocol buffers, as kubectl and typed Go clients post them.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::apiserver::http {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// Returns the object with apiVersion and kind. Empty strings are dropped, because the encoding does not distinguish
// them from absent ones; numbers and booleans are kept, and the kind's schema decides what zero means. Errors say
// what is malformed, or that the kind has no protobuf form here.
Result<Json> decode_protobuf(std::string_view bytes);

}  // namespace berth::apiserver::http
