// What roles and bindings allow a user to do. https://kubernetes.io/docs/reference/access-authn-authz/rbac/
//
// `objects` looks up roles and bindings; with empty functions there are none. A ClusterRole with an aggregationRule
// has the rules of all roles that it selects at the time of the request; nothing is written into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/apiserver/http/access.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::http {

// The PolicyRules that apply to the user: those of the whole cluster, plus those of namespace `ns` unless it is
// empty.
std::vector<Json> rules_of(const api::User& user, std::string_view ns, const Lookup& objects);
// Whether one rule covers the action's verb and resource, or verb and path.
bool covers(const Json& rule, const Action& action);
// Whether the user is in system:masters, or one of the server's rules or of the user's allows the action. No escalation
// is possible by writing roles: only a user who may do everything can write to rbac.authorization.k8s.io.
bool may(const api::User& user, const Action& action, const Lookup& objects);

// For a list or watch whose field selector names one object: that name, for Action::name, so that a rule with
// resourceNames allows it. Empty: the request is not limited to one object. No other verb may use it: what it names is
// not all that the request may change.
std::string name_selected(std::string_view field_selector);

}  // namespace berth::apiserver::http
