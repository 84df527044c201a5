// A user who acts as another one: the headers Impersonate-User, -Group, -Uid and -Extra-*.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/resource.h"
#include "http/message.h"

namespace berth::apiserver::http {

// Replaces `who` by the user that the headers name. Returns the refusal when `who` may not act as this user, or when a
// user is missing; nullopt also when nobody is impersonated.
std::optional<api::RestResponse> impersonate(const std::vector<berth::http::Header>& headers, const Lookup& objects,
                                             Identity& who);

// Whether it is one of these headers.
bool is_impersonation(std::string_view header_name);

}  // namespace berth::apiserver::http
