// Query parameters of the verbs: CreateOptions, PatchOptions, DeleteOptions, ListOptions, ...
// https://kubernetes.io/docs/reference/using-api/api-concepts/
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "apiserver/http/resource_path.h"

namespace berth::apiserver::http {

// Fills what `request.verb` takes from the query and checks it. An answer is a refusal (400 or 422). For
// deletes, `request.body` holds the DeleteOptions of the body, if there was one; those of the query take its
// place otherwise.
std::optional<api::RestResponse> apply_options(const Query& query, std::string_view user_agent,
                                               api::RestRequest& request);

// Whether a watch with these options is a list as a stream, which has no form as a table.
bool streams_list(const Query& query);

// Who a write is attributed to when it does not say: the User-Agent up to the first slash.
std::string manager_of_user_agent(std::string_view user_agent);

}  // namespace berth::apiserver::http
