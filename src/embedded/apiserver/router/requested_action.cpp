#include "embedded/apiserver/router/requested_action.h"

#include <string>
#include <string_view>
#include <utility>

#include "api/verb.h"
#include "base/text.h"
#include "embedded/apiserver/http/roles.h"
#include "embedded/apiserver/router/methods.h"

namespace berth::apiserver::http {
namespace {

using api::Verb;

// The path as it was sent: a rule for "/version" does not allow "/version/".
std::string whole_path(const ParsedRequest& in) {
  const std::string_view sent = std::string_view(in.http.target).substr(0, in.http.target.find_first_of("?#"));
  return in.target.path + (in.target.path != "/" && sent.ends_with('/') ? "/" : "");
}

}  // namespace

Action requested_action(const ParsedRequest& in) {
  Action action;
  if (!in.resource) {
    action.verb = to_lower(in.http.method);
    action.path = whole_path(in);
    return action;
  }
  const ResourcePath& path = *in.resource;
  const auto verb = verb_of(in.http.method, !path.name.empty(), in.target.query.flag("watch"));
  if (verb) action.verb = name_of(*verb);
  action.resource = path.resource;
  action.subresource = path.subresource.substr(0, path.subresource.find('/'));
  action.ns = path.resource.resource == "namespaces" && path.ns.empty() ? path.name : path.ns;
  action.name = path.name;
  if (verb == Verb::kList || verb == Verb::kWatch) action.name = name_selected(in.target.query.get("fieldSelector"));
  return action;
}

std::optional<Action> creation_by_apply(const api::RestRequest& request, Action action, const Lookup& objects) {
  const bool applies = request.verb == Verb::kPatch && request.patch_type == api::PatchType::kApply;
  if (!applies || !request.subresource.empty() || !objects.get) return std::nullopt;
  const bool has_type = !string_at(request.body, {"apiVersion"}).empty() && !string_at(request.body, {"kind"}).empty();
  if (!has_type) return std::nullopt;  // refused as no object at all
  if (objects.get(request.resource, request.ns, request.name) != nullptr) return std::nullopt;
  action.verb = name_of(Verb::kCreate);
  return action;
}

}  // namespace berth::apiserver::http
