// What a request asks for, as roles see it.
#pragma once

#include <optional>

#include "api/rest.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/resource.h"
#include "embedded/apiserver/router/parsed_request.h"

namespace berth::apiserver::http {

// Follows from the request's method, path and query. The verb of a method that the API does not have is empty.
Action requested_action(const ParsedRequest& in);

// Server-side apply creates an object that does not exist: what it needs besides `patch`. nullopt: nothing is created.
// `request` has its body; `objects` as the request will find them.
std::optional<Action> creation_by_apply(const api::RestRequest& request, Action action, const Lookup& objects);

}  // namespace berth::apiserver::http
