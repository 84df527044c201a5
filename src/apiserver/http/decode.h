// Bodies of requests: from bytes to values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"

namespace berth::apiserver::http {

enum class BodySyntax : std::uint8_t { kJson, kYaml, kProtobuf };

// A content type without its parameters, lower case.
std::string media_type(std::string_view content_type);

// Of objects and options; an empty content type means JSON. nullopt: not spoken here (415).
std::optional<BodySyntax> object_syntax(std::string_view content_type);
// Of patches. nullopt: no kind of patch (415).
std::optional<api::PatchType> patch_type(std::string_view content_type);

struct DecodedBody {
  Json value;                           // null when there was no body
  std::vector<std::string> duplicates;  // paths named twice
  std::string error;                    // not empty: the bytes are no document
};
DecodedBody decode_body(std::string_view bytes, BodySyntax syntax);

// 400: a body that is no document at all, where an object of `kind` was expected.
api::RestResponse undecodable_object(std::string_view kind, std::string_view bytes, std::string_view error);
// 415: `accepted` are the media types this place takes.
api::RestResponse unsupported_media_type(std::string_view accepted);
// 413.
api::RestResponse too_large();

}  // namespace berth::apiserver::http
