// metav1.Status: error responses of an API server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/field_error.h"
#include "api/rest.h"
#include "base/json.h"

namespace berth::api {

// The Status object. `code` and `reason` as in the API conventions: 404 NotFound, 409 Conflict, 422 Invalid, ...
Json make_status(int code, std::string_view reason, std::string_view message, Json details = nullptr);

RestResponse bad_request(std::string_view message);                                    // 400 BadRequest
RestResponse not_found(const GroupVersionResource& what, std::string_view name);       // 404 NotFound
RestResponse already_exists(const GroupVersionResource& what, std::string_view name);  // 409 AlreadyExists
RestResponse conflict(const GroupVersionResource& what, std::string_view name, std::string_view why);   // 409 Conflict
RestResponse forbidden(const GroupVersionResource& what, std::string_view name, std::string_view why);  // 403
RestResponse invalid(std::string_view group, std::string_view kind, std::string_view name,
                     const FieldErrors& errors);        // 422 Invalid
RestResponse internal_error(std::string_view message);  // 500 InternalError

// The reason ("NotFound") and message of a Status response; "" when the response is no Status.
std::string_view status_reason(const RestResponse& response);
std::string_view status_message(const RestResponse& response);

// A namespace that is being deleted accepts no new objects: a retry cannot succeed.
bool refused_by_terminating_namespace(const RestResponse& response);

// Why a request failed, for messages: the message of the Status, else the code, else "no answer" for code 0.
std::string failure_text(const RestResponse& response);

}  // namespace berth::api
