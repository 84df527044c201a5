#include "serve/delegated_auth.h"

#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/expiring_cache.h"
#include "serve/front_proxy.h"

namespace berth::serve {
namespace {

using Refusal = DelegatedAuth::Refusal;
using Identified = tl::expected<Caller, Refusal>;
using Decision = std::optional<Refusal>;

constexpr std::string_view kTrustNamespace = "kube-system";
constexpr std::string_view kTrustName = "extension-apiserver-authentication";
constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kMasters = "system:masters";
constexpr std::string_view kBearer = "Bearer ";

Refusal refuse(int code, std::string_view reason, std::string_view message) {
  return {code, {{"Content-Type", "application/json"}}, to_string(api::make_status(code, reason, message))};
}
Refusal not_known(std::string_view why) { return refuse(401, "Unauthorized", "Unauthorized: " + std::string(why)); }
Refusal cannot_ask(std::string_view why) {
  return refuse(503, "ServiceUnavailable", "the API server cannot be asked who may do this: " + std::string(why));
}

// Bytes of a refusal's message: a client chooses the path that it names, and refusals are cached.
constexpr std::size_t kMaxMessageBytes = 512;

// The caches hold only hashes: a leak of their memory reveals no token, and what a client asks for takes no more room.
std::string sum_of(std::string_view text) {
  unsigned char sum[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum);
  return {reinterpret_cast<const char*>(sum), sizeof sum};
}

bool has_group(const api::User& user, std::string_view group) {
  return std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
}

Caller authenticated(Caller caller) {
  if (!has_group(caller.user, kAuthenticated)) caller.user.groups.emplace_back(kAuthenticated);
  return caller;
}

// The bearer token of the Authorization header; empty when there is none.
std::string_view bearer_token(const http::HttpRequest& request) {
  const std::string_view value = request.header("Authorization");
  const bool bearer =
      value.size() > kBearer.size() && std::equal(kBearer.begin(), kBearer.end(), value.begin(),
                                                  [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  return bearer ? value.substr(kBearer.size()) : std::string_view();
}

std::vector<std::string> texts_of(const Json& array) {
  std::vector<std::string> out;
  if (!array.is_array()) return out;
  for (const Json& element : array.get_array()) {
    if (element.is_string()) out.emplace_back(view(element.get_string()));
  }
  return out;
}

Caller caller_of(const Json& user) {
  Caller caller;
  caller.user.name = string_at(user, {"username"});
  caller.uid = string_at(user, {"uid"});
  if (const Json* groups = find(user, "groups")) caller.user.groups = texts_of(*groups);
  for (const auto& [key, values] : object_at(user, {"extra"})) caller.extra[std::string(key)] = texts_of(values);
  return authenticated(std::move(caller));
}

std::string joined(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() || one == other ? (one.empty() ? other : one) : one + "\n" + other;
}

Json json_of(const std::vector<std::string>& texts) { return JsonArray(texts.begin(), texts.end()); }

Json token_review(std::string_view token, const std::vector<std::string>& audiences) {
  JsonObject spec{{"token", token}};
  if (!audiences.empty()) spec["audiences"] = json_of(audiences);
  return JsonObject{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", std::move(spec)}};
}

// Whether a review names one of the audiences. A server that does not know audiences names none.
bool is_for(const Json& review, const std::vector<std::string>& audiences) {
  if (audiences.empty()) return true;
  const JsonArray& named = array_at(review, {"status", "audiences"});
  return std::any_of(named.begin(), named.end(), [&](const Json& name) {
    return name.is_string() &&
           std::find(audiences.begin(), audiences.end(), view(name.get_string())) != audiences.end();
  });
}

Json access_review(const Caller& caller, const AccessAttributes& a) {
  JsonObject spec{{"user", caller.user.name}, {"groups", json_of(caller.user.groups)}};
  if (!caller.uid.empty()) spec["uid"] = caller.uid;
  if (!caller.extra.empty()) {
    JsonObject extra;
    for (const auto& [key, values] : caller.extra) extra[key] = json_of(values);
    spec["extra"] = std::move(extra);
  }
  if (a.resource.resource.empty()) {
    spec["nonResourceAttributes"] = JsonObject{{"path", a.path}, {"verb", a.verb}};
  } else {
    JsonObject resource{{"verb", a.verb},
                        {"group", a.resource.group},
                        {"version", a.resource.version},
                        {"resource", a.resource.resource}};
    if (!a.subresource.empty()) resource["subresource"] = a.subresource;
    if (!a.ns.empty()) resource["namespace"] = a.ns;
    if (!a.name.empty()) resource["name"] = a.name;
    spec["resourceAttributes"] = std::move(resource);
  }
  return JsonObject{
      {"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}};
}

std::string wish(const Caller& caller, const AccessAttributes& a) {
  std::string text = "User \"" + caller.user.name + "\" cannot " + a.verb;
  if (a.resource.resource.empty()) return text + " path \"" + a.path + "\"";
  text += " resource \"" + a.resource.resource + (a.subresource.empty() ? "" : "/" + a.subresource) +
          "\" in API group \"" + a.resource.group + "\"";
  return text + (a.ns.empty() ? " at the cluster scope" : " in the namespace \"" + a.ns + "\"");
}

std::string reason_of(const api::RestResponse& response) {
  const std::string_view message = api::status_message(response);
  if (!message.empty()) return std::string(message);
  return response.code == 0 ? "no answer" : "it answered " + std::to_string(response.code);
}

}  // namespace

struct DelegatedAuth::Impl : std::enable_shared_from_this<DelegatedAuth::Impl> {
  Impl(api::RestClient& c, Executor& e, DelegatedAuthOptions o) : client(c), executor(e), options(o) {}

  template <typename F>
  auto guarded(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... args) {
      if (const auto self = weak.lock(); self && !self->over) f(std::forward<decltype(args)>(args)...);
    };
  }

  void create(const api::GroupVersionResource& resource, Json body,
              std::function<void(const api::RestResponse&)> done) {
    api::RestRequest request;
    request.verb = api::Verb::kCreate;
    request.resource = resource;
    request.body = std::move(body);
    ++in_flight;
    client.call(std::move(request), guarded([this, done = std::move(done)](const api::RestResponse& response) {
                  --in_flight;
                  done(response);
                }));
  }

  // --- The proxy.

  void read_trust() {
    api::RestRequest request;
    request.verb = api::Verb::kGet;
    request.resource = api::kConfigMaps;
    request.ns = kTrustNamespace;
    request.name = kTrustName;
    client.call(std::move(request), guarded([this](const api::RestResponse& response) { trust_read(response); }));
  }

  void trust_read(const api::RestResponse& response) {
    executor.after(options.trust_refresh, guarded([this] { read_trust(); }));
    // 404: an API server without aggregation has no such ConfigMap. Other errors: keep what was read before.
    if (response.ok() || response.code == 404) {
      synced = true;
      FrontProxy read = response.ok() ? read_front_proxy(response.body) : FrontProxy();
      std::string users =
          response.ok() ? std::string(string_at(response.body, {"data", "client-ca-file"})) : std::string();
      const bool changed = read.authorities != proxy.authorities || users != user_authorities;
      proxy = std::move(read);
      user_authorities = std::move(users);
      if (changed) on_authorities(joined(proxy.authorities, user_authorities));
    } else {
      log::warn(
          "cannot read the CA of the API server's aggregation proxy",
          {{"configmap", std::string(kTrustNamespace) + "/" + std::string(kTrustName)}, {"why", reason_of(response)}});
    }
  }

  // --- Tokens.

  void identify(const std::string& token, std::function<void(Identified)> done) {
    const std::string key = sum_of(token);
    if (const Identified* known = callers.find(key, executor.now())) return done(*known);
    if (const auto it = identifying.find(key); it != identifying.end()) return it->second.push_back(std::move(done));
    if (in_flight >= kMaxQuestionsInFlight) return done(tl::unexpected(cannot_ask("too many questions at once")));
    identifying[key].push_back(std::move(done));
    create(api::kTokenReviews, token_review(token, options.audiences), [this, key](const api::RestResponse& response) {
      Identified answer = identified(response, options.audiences);
      if (response.ok()) {
        const Duration lifetime = answer ? options.token_lifetime : options.refusal_lifetime;
        callers.put(key, answer, executor.now() + lifetime);
      }
      const auto waiting = identifying.extract(key);
      for (const auto& report : waiting.mapped()) report(answer);
    });
  }

  static Identified identified(const api::RestResponse& response, const std::vector<std::string>& audiences) {
    if (!response.ok()) return tl::unexpected(cannot_ask(reason_of(response)));
    if (!bool_at(response.body, {"status", "authenticated"})) {
      const std::string_view why = string_at(response.body, {"status", "error"});
      return tl::unexpected(not_known(why.empty() ? "the token is not valid" : why));
    }
    if (!is_for(response.body, audiences)) return tl::unexpected(not_known("the token is for another audience"));
    const Json* user = find_path(response.body, {"status", "user"});
    Caller caller = user ? caller_of(*user) : Caller();
    if (caller.user.name.empty()) return tl::unexpected(not_known("the token belongs to nobody"));
    return caller;
  }

  // The user that the request's client certificate stands for; nullopt when there is no certificate, or it is the
  // proxy's and the headers name no user.
  Result<std::optional<Caller>> certified(const http::HttpRequest& request) const {
    if (!request.peer_error.empty()) return fail("client certificate: " + request.peer_error);
    if (!request.peer) return std::nullopt;
    const bool of_proxy = http::signed_by(*request.peer, proxy.authorities, executor.now());
    const bool of_user = http::signed_by(*request.peer, user_authorities, executor.now());
    if (of_proxy) {
      // One authority may sign for both: then a request that names no other user comes from a user.
      auto proxied = read_proxied(proxy, request);
      if (!proxied || *proxied || !of_user) return proxied;
    }
    if (!of_user) return fail("client certificate: no authority that is trusted now has signed it");
    return Caller{{request.peer->common_name, request.peer->organizations}, {}, {}};
  }

  void authenticate(const http::HttpRequest& request, std::function<void(Identified)> done) {
    auto known = certified(request);
    if (known && *known) return done(authenticated(std::move(**known)));
    if (!known && bearer_token(request).empty()) return done(tl::unexpected(not_known(known.error().message)));
    if (const std::string_view token = bearer_token(request); !token.empty())
      return identify(std::string(token), std::move(done));
    if (!options.anonymous || !request.header("Authorization").empty())
      return done(tl::unexpected(not_known("a bearer token is needed")));
    done(Caller{{"system:anonymous", {"system:unauthenticated"}}, {}, {}});
  }

  // --- Permissions.

  void authorize(const Caller& caller, const AccessAttributes& attributes, std::function<void(Decision)> done) {
    if (has_group(caller.user, kMasters)) return done(std::nullopt);
    Json review = access_review(caller, attributes);
    const std::string key = sum_of(canonical_json(review));
    if (const Decision* known = decisions.find(key, executor.now())) return done(*known);
    if (const auto it = deciding.find(key); it != deciding.end()) return it->second.push_back(std::move(done));
    if (in_flight >= kMaxQuestionsInFlight) return done(cannot_ask("too many questions at once"));
    deciding[key].push_back(std::move(done));
    create(api::kSubjectAccessReviews, std::move(review),
           [this, key, caller, attributes](const api::RestResponse& response) {
             const Decision answer = decided(caller, attributes, response);
             if (response.ok()) decisions.put(key, answer, executor.now() + options.decision_lifetime);
             const auto waiting = deciding.extract(key);
             for (const auto& report : waiting.mapped()) report(answer);
           });
  }

  static Decision decided(const Caller& caller, const AccessAttributes& attributes, const api::RestResponse& response) {
    if (!response.ok()) return cannot_ask(reason_of(response));
    const bool denied = bool_at(response.body, {"status", "denied"});
    if (bool_at(response.body, {"status", "allowed"}) && !denied) return std::nullopt;
    const std::string_view why = string_at(response.body, {"status", "reason"});
    const std::string& subject = attributes.resource.resource.empty() ? attributes.path : attributes.resource.resource;
    const std::string message =
        subject + " is forbidden: " + wish(caller, attributes) + (why.empty() ? "" : ": " + std::string(why));
    return refuse(403, "Forbidden", cut_text(message, kMaxMessageBytes));
  }

  api::RestClient& client;
  Executor& executor;
  DelegatedAuthOptions options;
  std::function<void(const std::string&)> on_authorities;
  FrontProxy proxy;
  std::string user_authorities;  // PEM: authorities of users' client certificates; empty: none is accepted
  ExpiringCache<std::string, Identified> callers{kMaxCachedAnswers};
  ExpiringCache<std::string, Decision> decisions{kMaxCachedAnswers};
  std::map<std::string, std::vector<std::function<void(Identified)>>> identifying;  // by the token's hash
  std::map<std::string, std::vector<std::function<void(Decision)>>> deciding;       // by the review's hash
  std::size_t in_flight = 0;
  bool synced = false;
  bool over = false;
};

DelegatedAuth::DelegatedAuth(api::RestClient& client, Executor& executor, DelegatedAuthOptions options)
    : impl_(std::make_shared<Impl>(client, executor, options)) {}

DelegatedAuth::~DelegatedAuth() { impl_->over = true; }

void DelegatedAuth::start(std::function<void(const std::string& pem)> on_authorities) {
  impl_->on_authorities = std::move(on_authorities);
  impl_->read_trust();
}

bool DelegatedAuth::synced() const { return impl_->synced; }

void DelegatedAuth::authenticate(const http::HttpRequest& request, std::function<void(Identified)> done) {
  impl_->authenticate(request, std::move(done));
}

void DelegatedAuth::authorize(const Caller& caller, const AccessAttributes& attributes,
                              std::function<void(Decision)> done) {
  impl_->authorize(caller, attributes, std::move(done));
}

void DelegatedAuth::check(const http::HttpRequest& request, const AccessAttributes& attributes,
                          std::function<void(Identified)> done) {
  authenticate(request, [impl = impl_, attributes, done = std::move(done)](Identified caller) {
    if (!caller) return done(std::move(caller));
    impl->authorize(*caller, attributes, [caller, done](Decision refusal) {
      if (refusal) return done(tl::unexpected(std::move(*refusal)));
      done(caller);
    });
  });
}

}  // namespace berth::serve
