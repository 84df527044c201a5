#include "embedded/apiserver/router/impersonation.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::apiserver::http::impersonation_test {
namespace {

using Headers = std::vector<berth::http::Header>;

struct Acted {
  Identity who;
  int code = 0;  // of the refusal; 0: none
  std::string message;
};

Acted act(Identity who, const Headers& headers) {
  Acted out{std::move(who), 0, ""};
  const Lookup no_roles{[](auto&&...) { return JsonPtr(); }, [](auto&&...) { return std::vector<JsonPtr>(); }};
  if (const auto refusal = impersonate(headers, no_roles, out.who)) {
    out.code = refusal->code;
    out.message = string_at(refusal->body, {"message"});
  }
  return out;
}

const Identity kAdmin = authenticated("admin", "", {std::string(kMastersGroup)});

TEST(Impersonation, WithoutItsHeadersNothingChanges) {
  EXPECT_EQ(act(kAdmin, {{"Accept", "*/*"}}).who.user.name, "admin");
}

TEST(Impersonation, UsersGroupsUidsAndExtras) {
  const Acted acted = act(kAdmin, {{"impersonate-user", "bob"},
                                   {"Impersonate-Group", "a"},
                                   {"Impersonate-Group", "b"},
                                   {"Impersonate-Uid", "u"},
                                   {"Impersonate-Extra-Example.com%2fScopes", "s"}});
  EXPECT_EQ(acted.code, 0) << acted.message;
  EXPECT_EQ(acted.who.user.name, "bob");
  EXPECT_EQ(acted.who.user.groups, (std::vector<std::string>{"a", "b", "system:authenticated"}));
  EXPECT_EQ(acted.who.uid, "u");
  EXPECT_EQ(acted.who.extra.at("example.com/scopes"), std::vector<std::string>{"s"});
}

TEST(Impersonation, AServiceAccountHasItsGroups) {
  const Acted acted = act(kAdmin, {{"Impersonate-User", "system:serviceaccount:x:robot"}});
  EXPECT_EQ(acted.who.user.groups,
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:x", "system:authenticated"}));
  EXPECT_EQ(act(kAdmin, {{"Impersonate-User", "system:anonymous"}}).who.user.groups, anonymous().user.groups);
}

TEST(Impersonation, AddsTheGroupThatEveryUserHas) {
  const auto groups = [](std::string user, std::string group) {
    return act(kAdmin, {{"Impersonate-User", std::move(user)}, {"Impersonate-Group", std::move(group)}})
        .who.user.groups;
  };
  using Groups = std::vector<std::string>;
  EXPECT_EQ(groups("bob", "a"), (Groups{"a", "system:authenticated"}));
  EXPECT_EQ(groups("bob", "system:authenticated"), Groups{"system:authenticated"});
  EXPECT_EQ(groups("bob", "system:unauthenticated"), Groups{"system:unauthenticated"}) << "not both";
  EXPECT_EQ(groups("system:anonymous", "a"), (Groups{"a", "system:unauthenticated"})) << "keeps what was asked for";
}

TEST(Impersonation, NeedsTheRightAndAUser) {
  const Identity bob = authenticated("bob", "", {});
  Acted acted = act(bob, {{"Impersonate-User", "admin"}});
  EXPECT_EQ(acted.code, 403);
  EXPECT_NE(acted.message.find("User \"bob\" cannot impersonate resource \"users\""), std::string::npos)
      << acted.message;
  EXPECT_EQ(acted.who.user.name, "bob");
  acted = act(kAdmin, {{"Impersonate-Group", "system:masters"}});
  EXPECT_EQ(acted.code, 400);
  EXPECT_NE(acted.message.find("need the header Impersonate-User"), std::string::npos) << acted.message;
}

}  // namespace
}  // namespace berth::apiserver::http::impersonation_test
