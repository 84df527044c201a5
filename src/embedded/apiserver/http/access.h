// Identities, and the actions that they ask for. What they may do: see roles.h.
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
  // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"; about a path: the method in
  // lower case
  std::string verb;
  api::GroupVersionResource resource;  // resource.resource empty: the action is about `path`
  std::string subresource, ns, name;
  std::string path;
};

bool is_in(const api::User& user, std::string_view group);

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

// Every authenticated user is also a member of the first group, and every other one of the second.
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kMastersGroup = "system:masters";
Identity authenticated(std::string name, std::string uid, std::vector<std::string> groups);

}  // namespace berth::apiserver::http
