#include "embedded/apiserver/router/impersonation.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/status.h"
#include "base/text.h"
#include "embedded/apiserver/http/roles.h"

namespace berth::apiserver::http {
namespace {

constexpr std::string_view kUser = "impersonate-user", kGroup = "impersonate-group", kUid = "impersonate-uid",
                           kExtra = "impersonate-extra-", kAccount = "system:serviceaccount:";

struct Wanted {
  std::string user, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool nobody() const { return user.empty() && uid.empty() && groups.empty() && extra.empty(); }
};

// A key may have percent escapes, as in "example.com%2fscopes". Other percent signs stay.
std::string unescaped(std::string_view text) {
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += escape ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

Wanted wanted_in(const std::vector<berth::http::Header>& headers) {
  Wanted out;
  for (const auto& header : headers) {
    const std::string name = to_lower(header.name);
    if (name == kUser && out.user.empty()) out.user = header.value;
    if (name == kUid && out.uid.empty()) out.uid = header.value;
    if (name == kGroup) out.groups.push_back(header.value);
    if (name.starts_with(kExtra)) out.extra[unescaped(name.substr(kExtra.size()))].push_back(header.value);
  }
  return out;
}

// The namespace and the name in system:serviceaccount:NAMESPACE:NAME; empty for another user.
std::pair<std::string, std::string> account_of(std::string_view user) {
  if (!user.starts_with(kAccount)) return {};
  const std::string_view rest = user.substr(kAccount.size());
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) return {};
  return {std::string(rest.substr(0, colon)), std::string(rest.substr(colon + 1))};
}

Action acting_as(std::string group, std::string resource, std::string name) {
  Action out;
  out.verb = "impersonate";
  out.resource = {std::move(group), "v1", std::move(resource)};
  out.name = std::move(name);
  return out;
}

// What the caller must be allowed to do, one for each header.
std::vector<Action> actions_for(const Wanted& wanted) {
  std::vector<Action> out;
  if (const auto [ns, name] = account_of(wanted.user); !name.empty()) {
    out.push_back(acting_as("", "serviceaccounts", name));
    out.back().ns = ns;
  } else {
    out.push_back(acting_as("", "users", wanted.user));
  }
  for (const auto& group : wanted.groups) out.push_back(acting_as("", "groups", group));
  for (const auto& [key, values] : wanted.extra) {
    for (const auto& value : values) {
      out.push_back(acting_as("authentication.k8s.io", "userextras", value));
      out.back().subresource = key;
    }
  }
  if (!wanted.uid.empty()) out.push_back(acting_as("authentication.k8s.io", "uids", wanted.uid));
  return out;
}

Identity identity_of(Wanted wanted) {
  if (wanted.groups.empty()) {
    if (const auto [ns, name] = account_of(wanted.user); !name.empty())
      wanted.groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns};
  }
  const bool somebody = wanted.user != anonymous().user.name;
  Identity out{{std::move(wanted.user), std::move(wanted.groups)}, std::move(wanted.uid), std::move(wanted.extra)};
  const std::string_view missing = somebody ? kAuthenticatedGroup : kUnauthenticatedGroup;
  if (!is_in(out.user, missing) && !is_in(out.user, kUnauthenticatedGroup)) out.user.groups.emplace_back(missing);
  return out;
}

}  // namespace

bool is_impersonation(std::string_view header_name) {
  const std::string name = to_lower(header_name);
  return name == kUser || name == kUid || name == kGroup || name.starts_with(kExtra);
}

std::optional<api::RestResponse> impersonate(const std::vector<berth::http::Header>& headers, const Lookup& objects,
                                             Identity& who) {
  Wanted wanted = wanted_in(headers);
  if (wanted.nobody()) return std::nullopt;
  if (wanted.user.empty())
    return api::bad_request(
        "Impersonate-Group, Impersonate-Uid and Impersonate-Extra-* need the header Impersonate-User");
  for (const Action& action : actions_for(wanted)) {
    if (!may(who.user, action, objects)) return forbidden_action(who.user, action);
  }
  who = identity_of(std::move(wanted));
  return std::nullopt;
}

}  // namespace berth::apiserver::http
