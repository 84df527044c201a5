// Encodes values to the bytes of a response.
#pragma once

#include <string>
#include <string_view>

#include "api/rest.h"
#include "embedded/apiserver/http/message.h"
#include "embedded/apiserver/http/negotiate.h"
#include "embedded/apiserver/http/table.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::http {

// Everything needed to encode a response, so that any thread can do it.
struct Reply {
  api::RestResponse response;
  MediaForm form;
  ResourcePtr resource;  // the resource of the body, for Tables; may be null
  IncludeObject include = IncludeObject::kMetadata;
  Time now{};
  std::vector<Header> headers;  // headers to add to those that encode() sets itself
};
HttpResponse encode(const Reply& reply);

// For a Status or another document that belongs to no resource.
HttpResponse encode_document(const api::RestResponse& response, const MediaForm& form = {});

std::string to_bytes(const Json& document, const MediaForm& form);

}  // namespace berth::apiserver::http
