// The visibility API over HTTP: the group visibility.kueue.x-k8s.io as a handler for kube-apiserver's aggregation
// layer, and as a part of another server.
// https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
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

// Returns the pending workloads of a queue; nullopt when the queue does not exist. Called on the executor.
struct PendingSource {
  using Items = std::optional<std::vector<api::visibility::PendingWorkload>>;
  std::function<Items(std::string_view cluster_queue, api::visibility::Page)> in_cluster_queue;
  std::function<Items(std::string_view ns, std::string_view local_queue, api::visibility::Page)> in_local_queue;
  // Why a workload waits, as the fields of the document; `all`: with the names of objects of other namespaces. nullopt:
  // no such workload.
  std::function<std::optional<Json>(std::string_view ns, std::string_view workload, bool all)> explanation;
  // When it starts, likewise.
  std::function<std::optional<Json>(std::string_view ns, std::string_view workload, bool all)> prediction;
  // What would follow from the changes of a WhatIf. `ns`: it tries jobs of this namespace only, and workloads of others
  // are counted and not named; "": all. Error: the refusal, 400 when something is wrong with it.
  std::function<tl::expected<Json, api::RestResponse>(const Json& what_if, std::string_view ns)> what_if;
};

// Encodes a response. Called once, on any thread.
using Answer = std::function<http::HttpResponse()>;

// Answers an authorized request below the group's path. Call it on the executor; the returned Answer does the
// encoding on the thread that calls it. `body` is that of the request. 404 for an unknown queue, workload or resource,
// 400 for invalid options, 405 for methods other than GET.
Answer answer_visibility(const PendingSource& source, std::string_view method, const http::Target& target,
                         std::string_view body);

// The aggregated API server: health checks without authorization; discovery, OpenAPI and the group with it.
class VisibilityHandler final : public http::Handler {
 public:
  // Authorizes a request: calls `done` once, on the executor, now or later. nullopt allows the request; otherwise
  // `refusal` is the response.
  using Gate = std::function<void(const http::HttpRequest& request, const AccessAttributes& attributes,
                                  std::function<void(std::optional<http::HttpResponse> refusal)> done)>;

  VisibilityHandler(PendingSource source, Gate gate, std::vector<HealthCheck> checks);

  std::unique_ptr<Parsed> parse(http::HttpRequest head) const override;
  void admit(Parsed& request, std::function<void(Verdict)> done) override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;

 private:
  PendingSource source_;
  Gate gate_;
  HealthHandler health_;
};

// The handler behind HTTPS. Every replica serves it, not only the leader.
class VisibilityServer {
 public:
  // As SecureServer::start(). `auth` must outlive the server. The caller passes the authorities from
  // DelegatedAuth::start() on to trust_clients().
  static Result<std::unique_ptr<VisibilityServer>> start(SecureServerOptions options, Executor& executor,
                                                         PendingSource source, DelegatedAuth& auth,
                                                         std::vector<HealthCheck> checks,
                                                         CertificateSource& certificates);

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
