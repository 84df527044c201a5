// What every cluster allows without any role that a client writes: the default roles system:basic-user,
// system:discovery and system:public-info-viewer.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#discovery-roles
#pragma once

#include <vector>

#include "api/rest.h"
#include "base/json.h"

namespace berth::apiserver::http {

// The PolicyRules of these roles that apply to the user; they follow from its groups.
const std::vector<Json>& server_rules(const api::User& user);

}  // namespace berth::apiserver::http
