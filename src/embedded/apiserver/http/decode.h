// Decodes request bodies: from bytes to values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"

namespace berth::apiserver::http {

enum class BodySyntax : std::uint8_t { kJson, kYaml, kProtobuf };

// The media type of a Content-Type header without its parameters, in lower case.
std::string media_type(std::string_view content_type);

// For objects and options; an empty content type means JSON. nullopt: not supported (415).
std::optional<BodySyntax> object_syntax(std::string_view content_type);
// For patches. nullopt: not a patch type (415).
std::optional<api::PatchType> patch_type(std::string_view content_type);

struct DecodedBody {
  Json value;                           // null when the body is empty
  std::vector<std::string> duplicates;  // paths of duplicate fields
  std::string error;                    // not empty: the bytes cannot be parsed
};
DecodedBody decode_body(std::string_view bytes, BodySyntax syntax);

// 400: the body cannot be parsed; an object of `kind` was expected.
api::RestResponse undecodable_object(std::string_view kind, std::string_view bytes, std::string_view error);
// 415: `accepted` are the media types that this endpoint accepts.
api::RestResponse unsupported_media_type(std::string_view accepted);
// 413.
api::RestResponse too_large();

}  // namespace berth::apiserver::http
