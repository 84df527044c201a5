// The visibility API over HTTP: the group visibility.kueue.x-k8s.io as a handler of its own, for kube-apiserver's aggregation
// layer, and as a part of another server. https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/visibility/visibility.h"
#include "http/handler.h"
#include "http/target.h"
#include "serve/delegated_auth.h"
#include "serve/health.h"
#include "serve/secure_server.h"

namespace berth::serve {

// Who waits. Asked on the executor that owns the answer; none: there is no such queue.
struct PendingSource {
  using Items = std::optional<std::vector<api::visibility::PendingWorkload>>;
  std::function<Items(std::string_view cluster_queue, api::visibility::Page)> in_cluster_queue;
  std::function<Items(std::string_view ns, std::string_view local_queue, api::visibility::Page)> in_local_queue;
};

// Encodes an answer: on any thread, once.
using Answer = std::function<http::HttpResponse()>;

// Answers a request below the group's path, from somebody who may make it. Looks up on the executor, encodes where the answer is
// called. 404 for a queue or a resource that is not there, 400 for options that cannot be read, 405 for other methods than GET.
Answer answer_pending(const PendingSource& source, std::string_view method, const http::Target& target);

// The aggregated API server: health for everybody, and discovery, OpenAPI and the group for those who may.
class VisibilityHandler final : public http::Handler {
 public:
  // Tells `done`, once, on the executor, at once or later, how to refuse the request; nullopt lets it pass.
  using Gate = std::function<void(const http::HttpRequest& request, const AccessAttributes& attributes,
                                  std::function<void(std::optional<http::HttpResponse> refusal)> done)>;

  VisibilityHandler(PendingSource source, Gate gate, std::vector<HealthCheck> checks);

  std::unique_ptr<Parsed> parse(http::HttpRequest request) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;

 private:
  PendingSource source_;
  Gate gate_;
  HealthHandler health_;
};

// The handler behind HTTPS. Every replica serves it, whoever leads.
class VisibilityServer {
 public:
  // As SecureServer::start(). `auth` must outlive the server, and tell trust_clients() whose word it takes for who asks
  // (DelegatedAuth::start()).
  static Result<std::unique_ptr<VisibilityServer>> start(SecureServerOptions options, Executor& executor,
                                                         PendingSource source, DelegatedAuth& auth,
                                                         std::vector<HealthCheck> checks, CertificateSource& certificates);

  bool ready() const { return server_->ready(); }
  std::uint16_t port() const { return server_->port(); }
  void trust_clients(std::string authorities) { server_->trust_clients(std::move(authorities)); }
  void stop(std::chrono::seconds grace, std::function<void()> done) { server_->stop(grace, std::move(done)); }

 private:
  explicit VisibilityServer(std::unique_ptr<VisibilityHandler> handler) : handler_(std::move(handler)) {}
  std::unique_ptr<VisibilityHandler> handler_;
  std::unique_ptr<SecureServer> server_;
};

}  // namespace berth::serve
