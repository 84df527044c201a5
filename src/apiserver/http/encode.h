// From values to the bytes of an answer.
#pragma once

#include <string>
#include <string_view>

#include "api/rest.h"
#include "apiserver/http/message.h"
#include "apiserver/http/negotiate.h"
#include "apiserver/http/table.h"
#include "apiserver/resource.h"

namespace berth::apiserver::http {

// All that is needed to encode an answer, so that it can be done on any thread.
struct Reply {
  api::RestResponse response;
  MediaForm form;
  ResourcePtr resource;  // what the body is, for Tables; may be null
  IncludeObject include = IncludeObject::kMetadata;
  Time now{};
  std::vector<Header> headers;  // besides those that follow from the above
};
HttpResponse encode(const Reply& reply);

// A Status or another document outside of any resource.
HttpResponse encode_document(const api::RestResponse& response, const MediaForm& form = {});

// 299 - "text", with quotes and backslashes escaped. https://www.rfc-editor.org/rfc/rfc7234#section-5.5
std::string warning_header(std::string_view text);

std::string to_bytes(const Json& document, const MediaForm& form);

}  // namespace berth::apiserver::http
