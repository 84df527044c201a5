#include "embedded/apiserver/http/token_requests.h"

#include <optional>
#include <utility>

#include "api/resources.h"
#include "api/status.h"

namespace berth::apiserver::http {
namespace {

constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io", kVersion = "authentication.k8s.io/v1",
                           kKind = "TokenRequest";
constexpr std::int64_t kDefaultSeconds = 3600, kLeastSeconds = 600, kMostSeconds = std::int64_t{1} << 32;

using Refusal = std::optional<api::RestResponse>;

Refusal refused(std::string_view name, api::FieldError error) {
  return api::invalid(kAuthenticationGroup, kKind, name, {std::move(error)});
}

// Type and metadata in the body must match the path.
Refusal check_place(const Json& body, const TokenRequestContext& context) {
  if (string_at(body, {"apiVersion"}, kVersion) != kVersion || string_at(body, {"kind"}, kKind) != kKind) {
    return api::bad_request("expected a " + std::string(kKind) + " of " + std::string(kVersion) + ", got \"" +
                            std::string(string_at(body, {"kind"})) + "\" of \"" +
                            std::string(string_at(body, {"apiVersion"})) + "\"");
  }
  const std::string_view name = string_at(body, {"metadata", "name"}), ns = string_at(body, {"metadata", "namespace"});
  if (!name.empty() && name != context.account)
    return refused(context.account,
                   api::invalid_value("metadata.name", Json(name), "must match the service account name if specified"));
  if (!ns.empty() && ns != context.ns)
    return refused(context.account, api::invalid_value("metadata.namespace", Json(ns),
                                                       "must match the service account namespace if specified"));
  return std::nullopt;
}

Refusal check_spec(const Json& spec) {
  const std::int64_t seconds = int_at(spec, {"expirationSeconds"});
  if (seconds < kLeastSeconds)
    return refused(
        "", api::invalid_value("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"));
  if (seconds > kMostSeconds)
    return refused("", api::invalid_value("spec.expirationSeconds", seconds,
                                          "may not specify a duration larger than 2^32 seconds"));
  return std::nullopt;
}

// Binds the token to the object that the spec names.
Refusal bind(const Json& reference, const TokenRequestContext& context, TokenClaims& claims) {
  const std::string_view kind = string_at(reference, {"kind"}), version = string_at(reference, {"apiVersion"});
  const std::string name(string_at(reference, {"name"}));
  const struct {
    std::string_view kind, plural;
    std::optional<TokenObject>& bound;
    bool namespaced;
  } known[] = {{"Pod", "pods", claims.pod, true},
               {"Secret", "secrets", claims.secret, true},
               {"Node", "nodes", claims.node, false}};
  for (const auto& each : known) {
    if (kind != each.kind || version != "v1") continue;
    const api::GroupVersionResource resource{"", "v1", std::string(each.plural)};
    const JsonPtr object = context.objects.get(resource, each.namespaced ? context.ns : "", name);
    if (!object) return api::not_found(resource, name);
    if (each.kind == "Pod" && string_at(*object, {"spec", "serviceAccountName"}) != context.account) {
      return api::bad_request("cannot bind token for serviceaccount \"" + context.account +
                              "\" to pod running with different serviceaccount name.");
    }
    const std::string uid(string_at(*object, {"metadata", "uid"}));
    const std::string_view wanted = string_at(reference, {"uid"});
    if (!wanted.empty() && wanted != uid) {
      return api::conflict(
          {"", "v1", std::string(each.kind)}, name,
          "the UID in the bound object reference (" + std::string(wanted) +
              ") does not match the UID in record. The object might have been deleted and then recreated");
    }
    each.bound = TokenObject{name, uid};
    return std::nullopt;
  }
  return api::bad_request("cannot bind token to object of type " + std::string(version) +
                          ", Kind=" + std::string(kind) + ": expected a Pod, Secret or Node of v1");
}

// The spec with defaults filled in.
Json completed(const Json& body) {
  const Json* given = find(body, "spec");
  Json spec = given != nullptr && given->is_object() ? *given : Json(JsonObject());
  if (array_at(spec, {"audiences"}).empty()) spec.as_object()["audiences"] = JsonArray{kIssuer};
  const Json* seconds = find(spec, "expirationSeconds");
  if (seconds == nullptr || seconds->is_null()) spec.as_object()["expirationSeconds"] = kDefaultSeconds;
  if (find(spec, "boundObjectRef") == nullptr) spec.as_object()["boundObjectRef"] = nullptr;
  return spec;
}

}  // namespace

api::RestResponse answer_token_request(const Json& body, const TokenRequestContext& context) {
  if (auto refusal = check_place(body, context)) return std::move(*refusal);
  const JsonPtr account =
      context.objects.get ? context.objects.get(api::kServiceAccounts, context.ns, context.account) : nullptr;
  if (!account) return api::not_found(api::kServiceAccounts, context.account);
  Json spec = completed(body);
  if (auto refusal = check_spec(spec)) return std::move(*refusal);

  TokenClaims claims;
  claims.ns = context.ns;
  claims.account = {context.account, std::string(string_at(*account, {"metadata", "uid"}))};
  for (const Json& audience : array_at(spec, {"audiences"})) {
    if (!audience.is_string()) return api::bad_request("spec.audiences: expected texts");
    claims.audiences.emplace_back(view(audience.get_string()));
  }
  if (const Json* reference = find(spec, "boundObjectRef"); reference != nullptr && !reference->is_null()) {
    if (auto refusal = bind(*reference, context, claims)) return std::move(*refusal);
  }
  // Tokens contain whole seconds. Round down, so that the reported expiry is never later than the token's.
  const Time now = std::chrono::floor<std::chrono::seconds>(context.now);
  claims.issued = claims.not_before = now;
  claims.expires = now + std::chrono::seconds(int_at(spec, {"expirationSeconds"}));
  claims.id = context.token_id;
  return {
      201,
      JsonObject{
          {"kind", kKind},
          {"apiVersion", kVersion},
          {"metadata",
           JsonObject{{"name", context.account}, {"namespace", context.ns}, {"creationTimestamp", format_time(now)}}},
          {"spec", std::move(spec)},
          {"status",
           JsonObject{{"token", context.signer.sign(claims)}, {"expirationTimestamp", format_time(claims.expires)}}}},
      {}};
}

}  // namespace berth::apiserver::http
