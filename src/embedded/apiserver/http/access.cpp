#include "embedded/apiserver/http/access.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "api/status.h"

namespace berth::apiserver::http {
namespace {

// Splits a line of a token file at commas; quoted fields may contain commas.
std::vector<std::string> split_csv(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  for (std::string& f : fields) {
    while (!f.empty() && f.front() == ' ') f.erase(f.begin());
    while (!f.empty() && (f.back() == ' ' || f.back() == '\r')) f.pop_back();
  }
  return fields;
}

}  // namespace

const Identity& anonymous() {
  static const Identity who{{"system:anonymous", {std::string(kUnauthenticatedGroup)}}, ""};
  return who;
}

Identity authenticated(std::string name, std::string uid, std::vector<std::string> groups) {
  if (std::find(groups.begin(), groups.end(), kAuthenticatedGroup) == groups.end()) {
    groups.emplace_back(kAuthenticatedGroup);
  }
  return Identity{{std::move(name), std::move(groups)}, std::move(uid)};
}

bool is_in(const api::User& user, std::string_view group) {
  return std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
}

api::RestResponse forbidden_action(const api::User& user, const Action& action) {
  if (action.resource.resource.empty()) {
    const std::string message =
        "forbidden: User \"" + user.name + "\" cannot " + action.verb + " path \"" + action.path + "\"";
    return {403, api::make_status(403, "Forbidden", message, JsonObject{}), {}};
  }
  std::string what = action.resource.resource;
  if (!action.subresource.empty()) what += "/" + action.subresource;
  std::string why = "User \"" + user.name + "\" cannot " + action.verb + " resource \"" + what + "\" in API group \"" +
                    action.resource.group + "\"";
  why += action.ns.empty() ? " at the cluster scope" : " in the namespace \"" + action.ns + "\"";
  return api::forbidden(action.resource, action.name, why);
}

Result<TokenTable> TokenTable::parse(std::string_view text) {
  TokenTable table;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line == "\r" || line.front() == '#') continue;
    const std::vector<std::string> fields = split_csv(line);
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty()) {
      return fail("token file, line " + std::to_string(number) + ": expected token,user,uid[,\"group,group\"]");
    }
    std::vector<std::string> groups;
    if (fields.size() > 3) {
      for (std::string& g : split_csv(fields[3])) {
        if (!g.empty()) groups.push_back(std::move(g));
      }
    }
    table.add(fields[0], authenticated(fields[1], fields[2], std::move(groups)));
  }
  return table;
}

void TokenTable::add(std::string token, Identity identity) {
  entries_.push_back({std::move(token), std::move(identity)});
}

std::optional<Identity> TokenTable::find(std::string_view token) const {
  std::optional<Identity> found;
  for (const Entry& e : entries_) {
    if (e.token.size() == token.size() && CRYPTO_memcmp(e.token.data(), token.data(), token.size()) == 0) {
      found = e.identity;
    }
  }
  return found;
}

}  // namespace berth::apiserver::http
