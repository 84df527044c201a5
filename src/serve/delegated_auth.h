// Who asks, and may they? As the API server says: bearer tokens by TokenReview, users that the API server's
// own proxy names by its headers, client certificates by the authority that the API server itself trusts,
// permissions by SubjectAccessReview.
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

// Somebody who is known, with everything that an authorizer may want to look at.
struct Caller {
  api::User user;
  std::string uid;
  std::map<std::string, std::vector<std::string>> extra;
};

// What somebody wants to do: to a resource, or to a path that is none.
struct AccessAttributes {
  std::string verb;                    // "get", "list", ...
  api::GroupVersionResource resource;  // empty resource: it is about `path`
  std::string subresource, ns, name;
  std::string path;                    // "/metrics"
};

struct DelegatedAuthOptions {
  // Without credentials: system:anonymous, whom the API server may allow something; else 401.
  bool anonymous = true;
  Duration token_lifetime = std::chrono::minutes(2);     // a good token is asked about again after this
  Duration refusal_lifetime = std::chrono::seconds(10);  // a bad one after this
  Duration decision_lifetime = std::chrono::seconds(10);
  Duration trust_refresh = std::chrono::minutes(1);      // how often the proxy's authority is read again
};

// Bounds.
inline constexpr std::size_t kMaxCachedAnswers = 4'096;    // of each of the two caches; the oldest make room
inline constexpr std::size_t kMaxQuestionsInFlight = 256;  // to the API server; more are refused with 503

// On the executor only.
class DelegatedAuth {
 public:
  // Both must outlive it.
  DelegatedAuth(api::RestClient& client, Executor& executor, DelegatedAuthOptions options = {});
  ~DelegatedAuth();  // calls under way end without an answer

  // Reads ConfigMap kube-system/extension-apiserver-authentication, now and again. `on_authorities` gets what
  // client certificates of the proxy and of users are signed by (PEM; for SecureServer::trust_clients()),
  // whenever that changes. Without start() nobody is believed for a certificate.
  void start(std::function<void(const std::string& pem)> on_authorities);
  bool synced() const;  // the ConfigMap was read, or is not there

  // Refusals come as the answer to send: 401 not known, 403 not allowed, 503 the API server cannot be asked; each a Status.
  using Refusal = http::HttpResponse;
  // Which authority signed a client certificate is looked at anew: the proxy's is believed about others, a
  // user's about the user.
  void authenticate(const http::HttpRequest& request, std::function<void(tl::expected<Caller, Refusal>)> done);
  void authorize(const Caller& caller, const AccessAttributes& attributes,
                 std::function<void(std::optional<Refusal>)> done);
  // One after the other.
  void check(const http::HttpRequest& request, const AccessAttributes& attributes,
             std::function<void(tl::expected<Caller, Refusal>)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with answers under way, which find it over
};

}  // namespace berth::serve
