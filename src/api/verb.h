// The names of verbs in roles, audit logs and metrics: "get", "list", "watch", "create", "update", "patch", "delete",
// "deletecollection".
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
#pragma once

#include <string_view>

#include "api/rest.h"

namespace berth::api {

std::string_view name_of(Verb verb);

}  // namespace berth::api
