// Identities, and what they may do without any role: members of system:masters may do everything, authenticated users
// may read discovery and review their own access, and anonymous users may read health and version. Roles add to that:
// see roles.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"

namespace berth::apiserver::http {

struct Identity {
  api::User user;
  std::string uid;
  std::map<std::string, std::vector<std::string>> extra = {};
};

// User system:anonymous in group system:unauthenticated.
const Identity& anonymous();

// A request to authorize: for a resource, or for a path that is no resource.
struct Action {
  std::string verb;  // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"
  api::GroupVersionResource resource;  // resource.resource empty: the action is about `path`
  std::string subresource, ns, name;
  std::string path;
};

bool is_master(const api::User& user);  // may do everything
bool allowed(const api::User& user, const Action& action);

// `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace
// "x"`
api::RestResponse forbidden_action(const api::User& user, const Action& action);

// Bearer tokens, as in Kubernetes' static token file: lines of token,user,uid[,"group1,group2"].
class TokenTable {
 public:
  static Result<TokenTable> parse(std::string_view text);  // errors say the line
  void add(std::string token, Identity identity);
  // Compares with every token in constant time.
  std::optional<Identity> find(std::string_view token) const;

 private:
  struct Entry {
    std::string token;
    Identity identity;
  };
  std::vector<Entry> entries_;
};

// Every authenticated user is also a member of this group.
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kMastersGroup = "system:masters";
Identity authenticated(std::string name, std::string uid, std::vector<std::string> groups);

}  // namespace berth::apiserver::http
