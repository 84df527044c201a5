// The webhooks that an API server calls: admission of Jobs and of Kueue's and Volcano's kinds, and conversion between versions.
#pragma once

#include <memory>

#include "api/kueue/admission.h"
#include "serve/secure_server.h"

namespace berth::serve {

// Bounds of bodies. Of admission: an object and its older self, each as large as an API server stores at most, and what surrounds
// them. Of conversion: all objects of a list come in one review.
inline constexpr std::size_t kMaxAdmissionBytes = 8u << 20;
inline constexpr std::size_t kMaxConversionBytes = 64u << 20;

// Answers POSTs of reviews on the paths that Kueue's webhook configurations name: /mutate-batch-v1-job,
// /validate-batch-v1-job, /mutate-kueue-x-k8s-io-v1beta2-{workload,clusterqueue,resourceflavor},
// /validate-kueue-x-k8s-io-v1beta2-{workload,clusterqueue,resourceflavor,cohort} and /convert; and on those
// that Volcano's name:
// /{queues,podgroups,jobs}/{mutate,validate}. On the paths of Kueue's webhooks for other kinds (pods,
// JobSets, ...) everything is allowed and nothing changed, as Kueue does for kinds that are switched off.
// What is no review is answered with 400 and a Status that says why, any other path with 404.
class WebhookHandler final : public http::Handler {
 public:
  // `get` is called on the executor, and so is `more`: rules besides those of Kueue. Empty: what they would judge is allowed.
  WebhookHandler(api::kueue::ObjectGetter get, api::kueue::AdmissionPolicy policy, api::kueue::RulesOf more = {});

  std::unique_ptr<Parsed> parse(http::HttpRequest request) const override;
  std::unique_ptr<http::Exchange> execute(std::unique_ptr<Parsed> request, std::shared_ptr<http::ResponseSink> sink) override;

 private:
  api::kueue::AdmissionRules rules_of(std::string_view group, std::string_view resource) const;

  api::kueue::ObjectGetter get_;
  api::kueue::AdmissionPolicy policy_;
  api::kueue::RulesOf more_;
};

// The handler behind HTTPS. Every replica serves webhooks, whoever leads.
class WebhookServer {
 public:
  // As SecureServer::start(); max_body_bytes of the options is not looked at.
  static Result<std::unique_ptr<WebhookServer>> start(SecureServerOptions options, Executor& executor,
                                                      api::kueue::ObjectGetter get, api::kueue::AdmissionPolicy policy,
                                                      CertificateSource& certificates,
                                                      api::kueue::RulesOf more = {});

  bool ready() const { return server_->ready(); }
  std::uint16_t port() const { return server_->port(); }
  void stop(std::chrono::seconds grace, std::function<void()> done) { server_->stop(grace, std::move(done)); }

 private:
  explicit WebhookServer(std::unique_ptr<WebhookHandler> handler) : handler_(std::move(handler)) {}
  std::unique_ptr<WebhookHandler> handler_;
  std::unique_ptr<SecureServer> server_;
};

}  // namespace berth::serve
