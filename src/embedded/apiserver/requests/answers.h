// The Status responses of the generic code that are not in api/status.h.
#pragma once

#include <string>
#include <string_view>

#include "api/rest.h"
#include "api/status.h"
#include "embedded/apiserver/resource.h"
#include "embedded/apiserver/storage/object_store.h"

namespace berth::apiserver {

api::RestResponse ok(Json body, int code = 200);
api::RestResponse failure(int code, std::string_view reason, std::string_view message, Json details = nullptr);
api::RestResponse success(int code, Json details);  // a Status with "Success"; null: without details

// "the server could not find the requested resource"
api::RestResponse not_served();
api::RestResponse not_allowed(std::string_view verb);
// 422 for invalid options of a request: `kind` is "CreateOptions", "ListOptions", ...
api::RestResponse invalid_options(std::string_view kind, const api::FieldErrors& errors);
// 422 for an invalid object of the resource. Errors about Events (both groups) name the kind without the group.
api::RestResponse invalid_object(const ResourceInfo& resource, std::string_view name, const api::FieldErrors& errors);
// 409 "Operation cannot be fulfilled on ...": the object has been modified.
api::RestResponse modified(const ResourceInfo& resource, std::string_view name);
// The response for a write that the store refused.
api::RestResponse refused(const ResourceInfo& resource, std::string_view name, WriteError error,
                          const ObjectStore& store);
// 504: the write may take effect although it is not confirmed.
api::RestResponse not_confirmed(std::string_view why);
// Whether the store accepts no writes at this moment: another try may succeed.
bool is_busy(const api::RestResponse& response);
// 504: the requested revision does not exist yet.
api::RestResponse version_too_large(Revision wanted, Revision current);
// 410 Expired; `continue_token` may be empty.
api::RestResponse expired(std::string_view message, std::string_view continue_token);

// Parses a resourceVersion. The error has the text of Go's parser.
Result<Revision> parse_revision(std::string_view text);

}  // namespace berth::apiserver
