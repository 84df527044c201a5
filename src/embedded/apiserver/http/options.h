// Query parameters of the verbs: CreateOptions, PatchOptions, DeleteOptions, ListOptions, ...
// https://kubernetes.io/docs/reference/using-api/api-concepts/
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "embedded/apiserver/http/resource_path.h"

namespace berth::apiserver::http {

// Fills the options of `request.verb` from the query and checks them. The result is an error response (400 or 422),
// or nullopt. For deletes, `request.body` holds the DeleteOptions of the body; when there is none, the options of the
// query are used.
std::optional<api::RestResponse> apply_options(const Query& query, std::string_view user_agent,
                                               api::RestRequest& request);

// Whether a watch with these options streams the initial list (sendInitialEvents); such a watch cannot be a Table.
bool streams_list(const Query& query);

// The field manager of a write that does not name one: the User-Agent up to the first slash.
std::string manager_of_user_agent(std::string_view user_agent);

}  // namespace berth::apiserver::http
