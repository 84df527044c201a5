// Objects of built-in kinds as protocol buffers, as kubectl and typed Go clients post them.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::apiserver::http {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// The object with apiVersion and kind. Zero texts are left out, since the encoding cannot tell them from
// absent ones; numbers and booleans are kept, the kind's schema knows what they mean. Errors say what is
// malformed, or that the kind has no such form here.
Result<Json> decode_protobuf(std::string_view bytes);

}  // namespace berth::apiserver::http
