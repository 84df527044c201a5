#include "embedded/apiserver/http/server_rules.h"

#include <initializer_list>
#include <string_view>

#include "embedded/apiserver/http/access.h"

namespace berth::apiserver::http {
namespace {

using Texts = std::initializer_list<std::string_view>;

Json texts(Texts values) {
  JsonArray array;
  for (const std::string_view value : values) array.emplace_back(value);
  return array;
}

Json may_create(std::string_view group, Texts resources) {
  return JsonObject{{"verbs", texts({"create"})}, {"apiGroups", texts({group})}, {"resources", texts(resources)}};
}

Json may_get(Texts paths) { return JsonObject{{"verbs", texts({"get"})}, {"nonResourceURLs", texts(paths)}}; }

Json public_rule() { return may_get({"/healthz", "/livez", "/readyz", "/version", "/version/"}); }

std::vector<Json> rules_of_authenticated() {
  return {may_create("authorization.k8s.io", {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
          may_create("authentication.k8s.io", {"selfsubjectreviews"}),
          may_get({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz",
                   "/version", "/version/"}),
          public_rule()};
}

}  // namespace

const std::vector<Json>& server_rules(const api::User& user) {
  static const std::vector<Json> authenticated = rules_of_authenticated(), anonymous = {public_rule()}, none;
  if (is_in(user, kAuthenticatedGroup)) return authenticated;
  return is_in(user, kUnauthenticatedGroup) ? anonymous : none;
}

}  // namespace berth::apiserver::http
