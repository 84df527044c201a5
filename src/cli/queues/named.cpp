#include "cli/queues/named.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/similar.h"

namespace berth::cli::queues {
namespace {

constexpr std::size_t kMostNamed = 5;

std::string said(const Session& session, Server& server, const Selection& all, std::string_view flag,
                 const std::string& what, const std::string& name) {
  auto items = list_objects(session, server, all);
  if (!items) return "";
  std::vector<std::string> names;
  for (const Json& item : *items) names.emplace_back(string_at(item, {"metadata", "name"}));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (std::ranges::binary_search(names, name)) return "";
  const std::string where = all.ns.empty() ? "" : " in namespace " + all.ns;
  std::string out = std::string(flag) + " " + name + ": there is no " + what + " " + name + where;
  if (names.empty()) return out + "; there is none at all";
  std::string nearest;
  for (const std::string& each : nearest_first(name, std::move(names), kMostNamed))
    nearest += (nearest.empty() ? "" : ", ") + each;
  return out + "; nearest: " + nearest;
}

}  // namespace

std::string names_nothing(const Session& session, Server& server, std::string_view flag, const Kind& kind,
                          const std::string& ns, const std::string& name) {
  if (name.empty()) return "";
  return said(session, server, {kind.resource(), std::string(kind.name), ns, {}, {}}, flag, std::string(kind.name),
              name);
}

std::string no_namespace(const Session& session, Server& server, const std::string& ns) {
  if (ns.empty()) return "";
  api::RestRequest request;
  request.resource = {"", "v1", "namespaces"};
  request.name = ns;
  if (server.call(std::move(request)).code != 404) return "";
  return said(session, server, {{"", "v1", "namespaces"}, "Namespace", {}, {}, {}}, "-n", "namespace", ns);
}

std::string no_object(const Session& session, Server& server, const FoundResource& resource, const std::string& ns,
                      const std::string& name) {
  const std::string in = resource.namespaced ? ns : "";
  std::string wrong = no_namespace(session, server, in);
  if (wrong.empty())
    wrong = said(session, server, {resource.resource, resource.kind, in, {}, {}}, "--for", resource.kind, name);
  return wrong.empty() ? "--for: there is no " + resource.kind + " " + name : wrong;
}

}  // namespace berth::cli::queues
