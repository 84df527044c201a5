// What roles and bindings let somebody do. https://kubernetes.io/docs/reference/access-authn-authz/rbac/
//
// `objects` gives roles and bindings; when its functions are empty there are none. A ClusterRole with an
// aggregationRule is the sum of the roles it selects as they are now; nothing is written into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "apiserver/http/access.h"
#include "apiserver/resource.h"
#include "base/json.h"

namespace berth::apiserver::http {

// The PolicyRules that hold for the user: those of the whole cluster, and those of the namespace when one is
// named.
std::vector<Json> rules_of(const api::User& user, std::string_view ns, const Lookup& objects);
// Whether one rule names the action's verb and resource, or verb and path.
bool covers(const Json& rule, const Action& action);
// Whether the server's own rules (access.h) or any rule of the user allow the action. Nobody gets more by
// writing roles: only who may do everything writes to rbac.authorization.k8s.io.
bool may(const api::User& user, const Action& action, const Lookup& objects);

// The one object that a list or a watch is about when its field selector names it, for Action::name: then roles for that
// name do. Empty: it is about others too.
std::string name_selected(std::string_view field_selector);

}  // namespace berth::apiserver::http
