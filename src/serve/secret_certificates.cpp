#include "serve/secret_certificates.h"

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"

namespace berth::serve {
// Read the Secret -> (if it must change) write it -> serve it -> publish its authorities -> wait -> read again. One
// step at a time.
struct SecretCertificates::Impl : std::enable_shared_from_this<SecretCertificates::Impl> {
  Impl(SecretCertificates& o, api::RestClient& c, Executor& e, SecretCertificatesOptions opts)
      : owner(o), client(c), executor(e), options(std::move(opts)), bundles(client, options.targets) {}

  template <typename F>
  auto guarded(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... args) {
      if (const auto self = weak.lock(); self && !self->over) f(std::forward<decltype(args)>(args)...);
    };
  }
  std::string what() const { return "Secret " + options.ns + "/" + options.secret; }

  void call(api::Verb verb, Json body, std::function<void(const api::RestResponse&)> then) {
    api::RestRequest request;
    request.verb = verb;
    request.resource = api::kSecrets;
    request.ns = options.ns;
    if (verb != api::Verb::kCreate) request.name = options.secret;
    request.body = std::move(body);
    client.call(std::move(request), guarded(std::move(then)));
  }

  // --- The Secret.

  void read() {
    timer = 0;
    call(api::Verb::kGet, nullptr, [this](const api::RestResponse& response) { seen(response); });
  }

  void seen(const api::RestResponse& response) {
    if (response.code == 404) return decide(std::nullopt, nullptr);
    if (!response.ok()) return failed("cannot read " + what() + ": " + api::failure_text(response));
    auto material = read_material(response.body);
    if (!material) return failed(material.error().message);
    decide(std::move(*material), response.body);
  }

  // `secret` is null when it does not exist.
  void decide(std::optional<ServingMaterial> present, Json secret) {
    // Another client emptied or deleted the Secret: write back what is served and trusted.
    const bool lost = !present && serving;
    if (lost) present = serving;
    const RotationState state{executor.now(), options.names, present && authorities_known(*present)};
    auto next = next_material(present ? &*present : nullptr, state, options.lifetimes);
    if (!next) return failed(next.error().message);
    if (!*next && !lost) return adopt(std::move(*present));
    write(*next ? std::move(**next) : std::move(*present), std::move(secret));
  }

  void write(ServingMaterial material, Json secret) {
    const bool create = secret.is_null();
    if (create) {
      secret = JsonObject{{"apiVersion", "v1"},
                          {"kind", "Secret"},
                          {"metadata", JsonObject{{"name", options.secret}, {"namespace", options.ns}}},
                          {"type", "Opaque"}};
    }
    write_material(secret, material);
    call(create ? api::Verb::kCreate : api::Verb::kUpdate, std::move(secret),
         [this, material = std::move(material)](const api::RestResponse& response) { written(material, response); });
  }

  void written(const ServingMaterial& material, const api::RestResponse& response) {
    // Another replica was first: read its Secret. Wait as after an error, so that two replicas do not conflict
    // forever.
    if (response.code == 409) return again(backoff());
    if (!response.ok()) return failed("cannot write " + what() + ": " + api::failure_text(response));
    log::info("serving certificate written", {{"secret", options.ns + "/" + options.secret}});
    adopt(material);
  }

  void adopt(ServingMaterial material) {
    serving = std::move(material);
    owner.present(serving->leaf);
    // During a rotation a replica with older data may have published older authorities: check the targets every time.
    const bool rotating = serving->authorities.rfind("-----BEGIN") != 0;
    if (rotating || !sure || known != serving->authorities || executor.now() >= looked_at + options.republish)
      return publish();
    succeeded();
  }

  void succeeded() {
    failures = 0;
    owner.set_problem({});
    again(options.refresh);
  }
  void failed(std::string why) {
    owner.set_problem(std::move(why));
    again(backoff());
  }

  Duration backoff() {
    const Duration wait = options.first_backoff * (1 << std::min(failures++, 16));
    return std::min(wait, options.refresh);
  }
  void again(Duration wait) {
    timer = executor.after(wait, guarded([this] { read(); }));
  }

  // --- The authorities in the targets.

  bool authorities_known(const ServingMaterial& material) const {
    return sure && known == material.authorities && executor.now() >= known_since + options.settle;
  }

  // Publishes only what was just read or written; a retry reads the Secret again first.
  void publish() {
    looked_at = executor.now();
    bundles.publish(serving->authorities, guarded([this](const CaBundles::Outcome& outcome) { published(outcome); }));
  }

  void published(const CaBundles::Outcome& outcome) {
    sure = outcome.result.has_value();
    if (outcome.changed > 0) known_since = executor.now();
    if (!sure) return failed(outcome.result.error().message);
    if (known != serving->authorities) known_since = executor.now();
    known = serving->authorities;
    published_once = true;
    succeeded();
  }

  SecretCertificates& owner;
  api::RestClient& client;
  Executor& executor;
  SecretCertificatesOptions options;
  CaBundles bundles;
  std::optional<ServingMaterial> serving;  // as last read or written
  std::string known;                       // the authorities of the last publication that succeeded
  bool sure = false;                       // the last publication succeeded
  Time known_since{}, looked_at{};
  int failures = 0;
  TimerId timer = 0;
  bool published_once = false;
  bool over = false;
};

SecretCertificates::SecretCertificates(api::RestClient& client, Executor& executor, SecretCertificatesOptions options)
    : impl_(std::make_shared<Impl>(*this, client, executor, std::move(options))) {}

SecretCertificates::~SecretCertificates() {
  impl_->over = true;
  impl_->executor.cancel(impl_->timer);
}

void SecretCertificates::start() { impl_->read(); }
bool SecretCertificates::published() const { return impl_->published_once; }

}  // namespace berth::serve
