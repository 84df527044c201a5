#include "embedded/apiserver/router/methods.h"

#include <algorithm>

namespace berth::apiserver::http {
namespace {

bool takes_verb(const ResourceInfo& info, std::string_view verb) {
  return info.verbs.empty() || std::find(info.verbs.begin(), info.verbs.end(), verb) != info.verbs.end();
}

// Subresources that accept only POST; "finalize" accepts only PUT.
bool is_action(std::string_view subresource) {
  return subresource == "binding" || subresource == "eviction" || subresource == kTokenSubresource;
}

}  // namespace

std::optional<api::Verb> verb_of(std::string_view method, bool named, bool watch) {
  if (method == "GET" || method == "HEAD") {
    if (named) return api::Verb::kGet;
    return watch ? api::Verb::kWatch : api::Verb::kList;
  }
  if (method == "POST") return api::Verb::kCreate;
  if (method == "PUT") return api::Verb::kUpdate;
  if (method == "PATCH") return api::Verb::kPatch;
  if (method == "DELETE") return named ? api::Verb::kDelete : api::Verb::kDeleteCollection;
  return std::nullopt;
}

bool has_subresource(const ResourceInfo& info, std::string_view name) {
  if (name == "status") return info.has_status;
  if (name == "scale") return info.has_scale;
  return std::find(info.extra_subresources.begin(), info.extra_subresources.end(), name) !=
         info.extra_subresources.end();
}

std::string allowed_methods(const ResourceInfo& info, bool named, std::string_view subresource) {
  std::string all;
  const auto add = [&](std::string_view method) { all += (all.empty() ? "" : ", ") + std::string(method); };
  if (!subresource.empty()) {
    if (is_action(subresource)) return "POST";
    if (subresource == "finalize") return "PUT";
    return "GET, PATCH, PUT";
  }
  if (named) {
    if (takes_verb(info, "delete")) add("DELETE");
    if (takes_verb(info, "get")) add("GET");
    if (takes_verb(info, "patch")) add("PATCH");
    if (takes_verb(info, "update")) add("PUT");
  } else {
    if (takes_verb(info, "deletecollection")) add("DELETE");
    if (takes_verb(info, "list")) add("GET");
    if (takes_verb(info, "create")) add("POST");
  }
  return all;
}

bool takes_method(const ResourceInfo& info, const ResourcePath& path, const std::string& sent) {
  const std::string methods = allowed_methods(info, !path.name.empty(), path.subresource);
  const std::string method = sent == "HEAD" ? "GET" : sent;
  if (method == "POST" && info.namespaced && path.ns.empty()) return false;
  for (std::string_view rest = methods; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    if (rest.substr(0, end) == method) return true;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return false;
}

}  // namespace berth::apiserver::http
