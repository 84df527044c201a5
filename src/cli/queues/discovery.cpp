#include "cli/queues/discovery.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "api/status.h"
#include "base/text.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

// Asked first: the groups of jobs that every cluster has.
constexpr std::array<std::string_view, 3> kFirst = {"batch/v1", "v1", "apps/v1"};

std::string path_of(std::string_view group_version) {
  return (group_version.find('/') == std::string_view::npos ? "/api/" : "/apis/") + std::string(group_version);
}

std::string_view group_of_version(std::string_view group_version) {
  const std::size_t slash = group_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : group_version.substr(0, slash);
}

using Matches = std::function<bool(const Json& resource)>;

std::optional<FoundResource> find_in(const Json& document, std::string_view group_version, const Matches& matches) {
  for (const Json& resource : array_at(document, {"resources"})) {
    const std::string_view name = string_at(resource, {"name"});
    if (name.empty() || name.find('/') != std::string_view::npos || !matches(resource)) continue;
    const std::string_view group = group_of_version(group_version);
    const std::string_view version = group.empty() ? group_version : group_version.substr(group.size() + 1);
    return FoundResource{{std::string(group), std::string(version), std::string(name)},
                         std::string(string_at(resource, {"kind"})),
                         bool_at(resource, {"namespaced"})};
  }
  return std::nullopt;
}

bool is_called(const Json& resource, const std::string& word) {
  if (string_at(resource, {"name"}) == word || string_at(resource, {"singularName"}) == word ||
      to_lower(string_at(resource, {"kind"})) == word)
    return true;
  const JsonArray& names = array_at(resource, {"shortNames"});
  return std::any_of(names.begin(), names.end(),
                     [&](const Json& name) { return name.is_string() && view(name.get_string()) == word; });
}

}  // namespace

const Json& Discovery::document(const std::string& path) {
  const auto [at, added] = documents_.try_emplace(path);
  if (added) {
    api::RestResponse response = server_.get(path);
    if (response.ok()) at->second = std::move(response.body);
  }
  return at->second;
}

Result<std::vector<std::string>> Discovery::group_versions() {
  const Json& groups = document("/apis");
  if (groups.is_null()) {
    const api::RestResponse response = server_.get("/apis");
    if (!response.ok())
      return fail("API discovery failed: " + api::failure_text(response) +
                  "; check the server's address and the credentials in the kubeconfig, and whether "
                  "they may get /apis");
  }
  std::vector<std::string> versions(kFirst.begin(), kFirst.end());
  const auto add = [&](const Json& version) {
    std::string name(string_at(version, {"groupVersion"}));
    if (!name.empty() && std::find(versions.begin(), versions.end(), name) == versions.end())
      versions.push_back(std::move(name));
  };
  const JsonArray& all = array_at(groups, {"groups"});
  for (const Json& group : all) {
    if (const Json* preferred = find(group, "preferredVersion")) add(*preferred);
  }
  for (const Json& group : all) {
    for (const Json& version : array_at(group, {"versions"})) add(version);
  }
  return versions;
}

Result<FoundResource> Discovery::by_type(std::string_view type) {
  const std::size_t dot = type.find('.');
  const std::string word = to_lower(type.substr(0, dot));
  const std::string_view group = dot == std::string_view::npos ? std::string_view() : type.substr(dot + 1);
  const auto versions = group_versions();
  if (!versions) return tl::unexpected(versions.error());
  for (const std::string& version : *versions) {
    if (dot != std::string_view::npos && group_of_version(version) != group) continue;
    auto found = find_in(document(path_of(version)), version, [&](const Json& r) { return is_called(r, word); });
    if (found) return std::move(*found);
  }
  return fail("the server does not have a resource type \"" + std::string(type) + "\"");
}

Result<FoundResource> Discovery::by_kind(std::string_view api_version, std::string_view kind) {
  auto found = find_in(document(path_of(api_version)), api_version,
                       [&](const Json& resource) { return string_at(resource, {"kind"}) == kind; });
  if (found) return std::move(*found);
  return fail("the server does not have the kind " + std::string(kind) + " of " + std::string(api_version));
}

Result<TypeAndName> parse_type_and_name(std::string_view flag, std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string_view::npos)
    return wrong_value(flag, text, "expected TYPE[.API-GROUP]/NAME, such as job/train or rayjob.ray.io/train");
  return TypeAndName{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

Result<void> split_type_and_name(std::string& type, std::string& name) {
  if (!name.empty()) return {};
  auto named = parse_type_and_name("TYPE/NAME", type);
  if (!named) return tl::unexpected(named.error());
  type = std::move(named->type);
  name = std::move(named->name);
  return {};
}

Result<ForObject> find_for(Server& server, Discovery& discovery, const TypeAndName& what, const std::string& ns) {
  auto resource = discovery.by_type(what.type);
  if (!resource) return tl::unexpected(resource.error());
  api::RestRequest request;
  request.resource = resource->resource;
  if (resource->namespaced) request.ns = ns;
  request.name = what.name;
  api::RestResponse response = server.call(std::move(request));
  ForObject found{std::move(*resource), std::nullopt};
  if (response.ok()) {
    found.object = std::move(response.body);
  } else if (response.code != 404) {
    return fail(server.explain(response, found.resource.resource));
  }
  return found;
}

}  // namespace berth::cli::queues
