// The answers of the console in their common form, with the headers that protect the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "http/message.h"

namespace berth::console {

// Headers of every answer.
std::vector<http::Header> common_headers();

// An answer that is not kept by caches. `type`: the value of Content-Type.
http::HttpResponse reply(int status, std::string type, std::string body);
http::HttpResponse json_reply(const Json& document);
http::HttpResponse no_content();
// {"message", "reason"}; the reason follows from the status: 400 BadRequest, 401 Unauthorized, 403 Forbidden, 404
// NotFound, 405 MethodNotAllowed, 409 Conflict, 413 RequestEntityTooLarge, 422 Invalid, 429 TooManyRequests, 503
// ServiceUnavailable, else InternalError.
http::HttpResponse refusal(int status, std::string_view message);

}  // namespace berth::console
