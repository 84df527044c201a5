// Authentication and authorization, delegated to the API server: bearer tokens by TokenReview, permissions by
// SubjectAccessReview. Also accepts users that the API server's proxy names in its headers, and client certificates
// of the authority that the API server trusts.
// https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#authentication-flow
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "http/message.h"

namespace berth::serve {

// An authenticated user, with all attributes that an authorizer may use.
struct Caller {
  api::User user;
  std::string uid;
  std::map<std::string, std::vector<std::string>> extra;
};

// A request to authorize: for a resource, or for a path that is not a resource.
struct AccessAttributes {
  std::string verb;                    // "get", "list", ...
  api::GroupVersionResource resource;  // empty resource: the request is for `path`
  std::string subresource, ns, name;
  std::string path;  // "/metrics"
};

struct DelegatedAuthOptions {
  // Whether a request without credentials becomes system:anonymous, whose permissions the API server decides; else
  // 401.
  bool anonymous = true;
  Duration token_lifetime = std::chrono::minutes(2);     // how long a valid token is cached
  Duration refusal_lifetime = std::chrono::seconds(10);  // how long an invalid token is cached
  Duration decision_lifetime = std::chrono::seconds(10);
  // A token must be made for one of these; empty: for the API server itself.
  std::vector<std::string> audiences = {};
  Duration trust_refresh = std::chrono::minutes(1);  // how often the trusted authorities are read again
};

// Bounds.
inline constexpr std::size_t kMaxCachedAnswers = 4'096;    // in each of the two caches; the oldest are dropped
inline constexpr std::size_t kMaxQuestionsInFlight = 256;  // requests to the API server; more are refused with 503

// Use it on the executor only.
class DelegatedAuth {
 public:
  // Both must outlive it.
  DelegatedAuth(api::RestClient& client, Executor& executor, DelegatedAuthOptions options = {});
  ~DelegatedAuth();  // pending calls get no answer

  // Reads ConfigMap kube-system/extension-apiserver-authentication now and every trust_refresh. Calls
  // `on_authorities` with the authorities that sign client certificates of the proxy and of users (PEM, for
  // SecureServer::trust_clients()) whenever they change. Without start() no client certificate is accepted.
  void start(std::function<void(const std::string& pem)> on_authorities);
  bool synced() const;  // the ConfigMap was read, or does not exist

  // A refusal is the HTTP response to send, with a Status: 401 not authenticated, 403 not allowed, 503 the API server
  // cannot be asked.
  using Refusal = http::HttpResponse;
  // Checks again which present authority signed the client certificate: the proxy may name another user in its
  // headers, a user's certificate names the user itself.
  void authenticate(const http::HttpRequest& request, std::function<void(tl::expected<Caller, Refusal>)> done);
  void authorize(const Caller& caller, const AccessAttributes& attributes,
                 std::function<void(std::optional<Refusal>)> done);
  // authenticate(), then authorize().
  void check(const http::HttpRequest& request, const AccessAttributes& attributes,
             std::function<void(tl::expected<Caller, Refusal>)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // pending callbacks hold it weakly and do nothing when it is gone
};

}  // namespace berth::serve
