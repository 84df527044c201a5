#include "embedded/apiserver/http/reviews.h"

#include "api/status.h"
#include "embedded/apiserver/http/roles.h"
#include "embedded/apiserver/http/server_rules.h"

namespace berth::apiserver::http {
namespace {

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";

// FieldsV1 of a value: an object owns its members and, if `itself`, also itself.
Json owned(const Json& value, bool itself) {
  JsonObject fields;
  if (!value.is_object()) return fields;
  if (itself) fields["."] = JsonObject{};
  for (const auto& [key, member] : value.get_object()) fields["f:" + std::string(key)] = owned(member, true);
  return fields;
}

Json managed_fields(const Json& spec, std::string_view api_version, const ReviewContext& context) {
  JsonObject entry;
  entry["manager"] = context.manager;
  entry["operation"] = "Update";
  entry["apiVersion"] = api_version;
  entry["time"] = format_time(context.now);
  entry["fieldsType"] = "FieldsV1";
  entry["fieldsV1"] = JsonObject{{"f:spec", owned(spec, false)}};
  return JsonArray{std::move(entry)};
}

Json user_info(const Identity& who) {
  JsonObject info;
  info["username"] = who.user.name;
  if (!who.uid.empty()) info["uid"] = who.uid;
  JsonArray groups;
  for (const std::string& g : who.user.groups) groups.emplace_back(g);
  info["groups"] = std::move(groups);
  for (const auto& [key, values] : who.extra)
    ensure_path(info["extra"], {key}) = JsonArray(values.begin(), values.end());
  return info;
}

JsonObject skeleton(const ReviewKind& kind) {
  JsonObject out;
  out["kind"] = kind.kind;
  out["apiVersion"] = std::string(kind.group) + "/v1";
  return out;
}

Action action_of(const Json& spec) {
  Action a;
  if (const Json* r = find(spec, "resourceAttributes"); r != nullptr && r->is_object()) {
    a.verb = string_at(*r, {"verb"});
    a.resource = {std::string(string_at(*r, {"group"})), std::string(string_at(*r, {"version"})),
                  std::string(string_at(*r, {"resource"}))};
    a.subresource = string_at(*r, {"subresource"});
    a.ns = string_at(*r, {"namespace"});
    a.name = string_at(*r, {"name"});
  } else {
    a.verb = string_at(spec, {"nonResourceAttributes", "verb"});
    a.path = string_at(spec, {"nonResourceAttributes", "path"});
  }
  return a;
}

api::FieldErrors check_attributes(const Json& spec) {
  const bool resource = find_path(spec, {"resourceAttributes"}) != nullptr;
  const bool path = find_path(spec, {"nonResourceAttributes"}) != nullptr;
  if (resource && path) {
    return {api::invalid_value("spec.nonResourceAttributes", *find_path(spec, {"nonResourceAttributes"}),
                               "cannot be specified in combination with resourceAttributes")};
  }
  if (!resource && !path) {
    return {api::invalid_value("spec.resourceAttributes", nullptr,
                               "exactly one of nonResourceAttributes or resourceAttributes must be specified")};
  }
  return {};
}

api::RestResponse answer_access(const ReviewKind& kind, const Json& spec, const api::User& user,
                                const ReviewContext& context) {
  if (const auto errors = check_attributes(spec); !errors.empty()) {
    return api::invalid(kind.group, kind.kind, "", errors);
  }
  JsonObject out = skeleton(kind);
  JsonObject metadata;
  if (kind.namespaced) metadata["namespace"] = string_at(spec, {"resourceAttributes", "namespace"});
  metadata["managedFields"] = managed_fields(spec, view(out["apiVersion"].get_string()), context);
  out["metadata"] = std::move(metadata);
  out["spec"] = spec;
  out["status"] = JsonObject{{"allowed", may(user, action_of(spec), context.objects)}};
  return {201, std::move(out), {}};
}

api::RestResponse answer_subject_access(const ReviewKind& kind, const Json& spec, const ReviewContext& context) {
  api::User user{std::string(string_at(spec, {"user"})), {}};
  for (const Json& g : array_at(spec, {"groups"})) {
    if (g.is_string()) user.groups.emplace_back(view(g.get_string()));
  }
  if (user.name.empty() && user.groups.empty()) {
    return api::invalid(kind.group, kind.kind, "",
                        {api::invalid_value("spec.user", "", "at least one of user or group must be specified")});
  }
  return answer_access(kind, spec, user, context);
}

api::RestResponse answer_rules(const ReviewKind& kind, const Json& spec, const ReviewContext& context) {
  JsonArray resources, paths;
  const auto add = [&](Json rule) {
    (find(rule, "nonResourceURLs") != nullptr ? paths : resources).push_back(std::move(rule));
  };
  if (is_in(context.who.user, kMastersGroup)) {
    add(JsonObject{{"verbs", JsonArray{"*"}}, {"apiGroups", JsonArray{"*"}}, {"resources", JsonArray{"*"}}});
    add(JsonObject{{"verbs", JsonArray{"*"}}, {"nonResourceURLs", JsonArray{"*"}}});
  }
  for (const Json& rule : server_rules(context.who.user)) add(rule);
  for (Json& rule : rules_of(context.who.user, string_at(spec, {"namespace"}), context.objects)) add(std::move(rule));
  JsonObject out = skeleton(kind);
  out["metadata"] = JsonObject{};
  out["spec"] = JsonObject{};
  out["status"] = JsonObject{
      {"resourceRules", std::move(resources)}, {"nonResourceRules", std::move(paths)}, {"incomplete", false}};
  return {201, std::move(out), {}};
}

api::RestResponse answer_self(const ReviewKind& kind, const ReviewContext& context) {
  JsonObject out = skeleton(kind);
  out["metadata"] = JsonObject{{"creationTimestamp", format_time(context.now)}};
  out["status"] = JsonObject{{"userInfo", user_info(context.who)}};
  return {201, std::move(out), {}};
}

// The requested audiences of the token; default: this API server.
std::vector<std::string> audiences_of(const Json& spec) {
  std::vector<std::string> out;
  for (const Json& audience : array_at(spec, {"audiences"})) {
    if (audience.is_string()) out.emplace_back(view(audience.get_string()));
  }
  if (out.empty()) out.emplace_back(kIssuer);
  return out;
}

// The identity of the token, and in `audiences` the wanted audiences for which it is valid. The error says why it is
// not valid.
Result<Identity> reviewed(std::string_view token, const std::vector<std::string>& wanted, const ReviewContext& context,
                          std::vector<std::string>& audiences) {
  const auto claims = context.signer == nullptr ? std::nullopt : context.signer->recognise(token);
  if (!claims) {
    const auto who = context.tokens.find(token);
    audiences = common_audiences(wanted, {std::string(kIssuer)});
    if (!who || audiences.empty()) return fail("invalid bearer token");
    return *who;
  }
  audiences = common_audiences(wanted, claims->audiences);
  auto who = identity_of(*claims, wanted, context.objects, context.now);
  if (!who) return fail("[invalid bearer token, " + who.error().message + "]");
  return who;
}

api::RestResponse answer_token(const ReviewKind& kind, const Json& spec, const ReviewContext& context) {
  JsonObject out = skeleton(kind);
  out["metadata"] = JsonObject{{"managedFields", managed_fields(spec, view(out["apiVersion"].get_string()), context)}};
  out["spec"] = spec;
  JsonObject status;
  const std::string_view token = string_at(spec, {"token"});
  const std::vector<std::string> wanted = audiences_of(spec);
  std::vector<std::string> audiences;
  const auto who = token.empty() ? tl::unexpected(Error{""}) : reviewed(token, wanted, context, audiences);
  if (who) {
    status["authenticated"] = true;
    status["user"] = user_info(*who);
    status["audiences"] = JsonArray(audiences.begin(), audiences.end());
  } else {
    status["user"] = JsonObject{};
    if (!token.empty()) status["error"] = who.error().message;
  }
  out["status"] = std::move(status);
  return {201, std::move(out), {}};
}

}  // namespace

const std::vector<ReviewKind>& review_kinds() {
  static const std::vector<ReviewKind> kinds = {
      {kAuthentication, "selfsubjectreviews", "SelfSubjectReview", "selfsubjectreview", false},
      {kAuthentication, "tokenreviews", "TokenReview", "tokenreview", false},
      {kAuthorization, "localsubjectaccessreviews", "LocalSubjectAccessReview", "localsubjectaccessreview", true},
      {kAuthorization, "selfsubjectaccessreviews", "SelfSubjectAccessReview", "selfsubjectaccessreview", false},
      {kAuthorization, "selfsubjectrulesreviews", "SelfSubjectRulesReview", "selfsubjectrulesreview", false},
      {kAuthorization, "subjectaccessreviews", "SubjectAccessReview", "subjectaccessreview", false},
  };
  return kinds;
}

const ReviewKind* find_review(const api::GroupVersionResource& resource) {
  if (resource.version != "v1") return nullptr;
  for (const ReviewKind& k : review_kinds()) {
    if (k.group == resource.group && k.resource == resource.resource) return &k;
  }
  return nullptr;
}

api::RestResponse answer_review(const ReviewKind& kind, const Json& body, const ReviewContext& context) {
  const Json* given = find(body, "spec");
  const Json spec = given != nullptr && given->is_object() ? *given : Json(JsonObject{});
  if (kind.kind == "SelfSubjectReview") return answer_self(kind, context);
  if (kind.kind == "TokenReview") return answer_token(kind, spec, context);
  if (kind.kind == "SelfSubjectRulesReview") return answer_rules(kind, spec, context);
  if (kind.kind == "SelfSubjectAccessReview") return answer_access(kind, spec, context.who.user, context);
  return answer_subject_access(kind, spec, context);
}

}  // namespace berth::apiserver::http
