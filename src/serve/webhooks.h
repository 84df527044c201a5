// The webhooks that an API server calls: admission of Jobs and of Kueue's and Volcano's kinds, and conversion between
// versions.
#pragma once

#include <memory>

#include "api/kueue/webhooks/admission.h"
#include "serve/owner_search.h"
#include "serve/secure_server.h"

namespace berth::serve {

// Bounds of request bodies. An admission review holds the object, the old object (each at most as large as an API
// server stores) and a frame. A conversion review holds all objects of a list.
inline constexpr std::size_t kMaxAdmissionBytes = 8u << 20;
inline constexpr std::size_t kMaxConversionBytes = 64u << 20;
// Of all reviews that are being read or answered: of one peer address, and in all.
inline constexpr std::size_t kMaxReviewBytesPerPeer = 96u << 20, kMaxReviewBytes = 192u << 20;

// Answers POSTs of reviews on the paths of Kueue's webhook configurations:
// /{mutate,validate}--v1-pod, /{mutate,validate}-batch-v1-job, /{mutate,validate}-apps-v1-{deployment,statefulset},
// /{mutate,validate}-leaderworkerset-x-k8s-io-v1-leaderworkerset,
// /mutate-kueue-x-k8s-io-v1beta2-{workload,clusterqueue,resourceflavor},
// /validate-kueue-x-k8s-io-v1beta2-{workload,clusterqueue,resourceflavor,cohort} and /convert; and on the paths of
// Volcano's: /{queues,podgroups,jobs}/{mutate,validate}; and on the paths of the policy's kinds. For kinds that are not
// managed everything is allowed and nothing is changed, as in Kueue; an object with a queue name gets a warning. Other
// methods get 405, bodies above the bound 413, bodies that are no review 400 with a Status that says why, other paths
// 404.
class WebhookHandler final : public http::Handler {
 public:
  // All functions are called on the executor. `more` gives the rules for resources that are not Kueue's; when it is
  // empty, everything is allowed for these resources. `ask` reads an owner that `get` does not have; when it is empty,
  // there is no such owner.
  WebhookHandler(api::kueue::ObjectGetter get, api::kueue::AdmissionPolicy policy, api::kueue::RulesOf more = {},
                 AskForOwner ask = {});

  std::unique_ptr<Parsed> parse(http::HttpRequest head) const override;
  void decode(Parsed& request) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request,
                                          std::shared_ptr<http::ResponseSink> sink) override;

 private:
  // Those of `more_` are put into `own`.
  const api::kueue::AdmissionRules& rules_of(std::string_view group, std::string_view resource,
                                             api::kueue::AdmissionRules& own) const;

  api::kueue::ObjectGetter get_;
  api::kueue::AdmissionPolicy policy_;
  api::kueue::RulesOf more_;
  AskForOwner ask_;
};

// The handler behind HTTPS. Every replica serves webhooks, not only the leader.
class WebhookServer {
 public:
  // As SecureServer::start(); ignores max_body_bytes of the options.
  static Result<std::unique_ptr<WebhookServer>> start(SecureServerOptions options, Executor& executor,
                                                      api::kueue::ObjectGetter get, api::kueue::AdmissionPolicy policy,
                                                      CertificateSource& certificates, api::kueue::RulesOf more = {},
                                                      AskForOwner ask = {});

  bool ready() const { return server_->ready(); }
  std::uint16_t port() const { return server_->port(); }
  void stop(std::chrono::seconds grace, std::function<void()> done) { server_->stop(grace, std::move(done)); }

 private:
  explicit WebhookServer(std::unique_ptr<WebhookHandler> handler) : handler_(std::move(handler)) {}
  std::unique_ptr<WebhookHandler> handler_;
  std::unique_ptr<SecureServer> server_;
};

}  // namespace berth::serve
