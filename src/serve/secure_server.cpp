#include "serve/secure_server.h"

#include <optional>
#include <utility>

#include "base/log.h"

namespace berth::serve {
namespace {

// For the time before the first real certificate: a signature that nobody trusts, thrown away with the process.
Result<http::Credential> stopgap(Time now) {
  const auto authority = http::make_authority("berth-starting", now, std::chrono::hours(24));
  if (!authority) return tl::unexpected(authority.error());
  return http::make_server_credential(*authority, {"berth-starting"}, now, std::chrono::hours(24));
}

}  // namespace

struct SecureServer::Impl {
  http::ServerTls tls;
  std::unique_ptr<http::HttpsServer> server;
  std::shared_ptr<void> listening;
  bool ready = false;

  // Takes what can be used; else everything stays as it was.
  bool use(http::ServerTls next) {
    auto context = http::make_server_context(next);
    if (!context) {
      log::error("the certificate cannot be used, the one before stays", {{"why", context.error().message}});
      return false;
    }
    tls = std::move(next);
    server->use(std::move(*context));
    return true;
  }
};

SecureServer::SecureServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SecureServer::~SecureServer() = default;

Result<std::unique_ptr<SecureServer>> SecureServer::start(http::Handler& handler, Executor& executor,
                                                          CertificateSource& source, SecureServerOptions options) {
  auto impl = std::make_unique<Impl>();
  auto first = stopgap(executor.now());
  if (!first) return tl::unexpected(first.error());
  impl->tls = {std::move(*first), {}, options.min_version, options.cipher_suites, options.groups};
  auto context = http::make_server_context(impl->tls);
  if (!context) return tl::unexpected(context.error());
  auto server = http::HttpsServer::start(
      handler, executor, std::move(*context),
      {std::move(options.address), options.port, options.threads, options.max_body_bytes});
  if (!server) return tl::unexpected(server.error());
  impl->server = std::move(*server);
  impl->listening = source.listen([impl = impl.get()](const http::Credential& credential) {
    http::ServerTls next = impl->tls;
    next.server = credential;
    if (impl->use(std::move(next))) impl->ready = true;
  });
  return std::unique_ptr<SecureServer>(new SecureServer(std::move(impl)));
}

bool SecureServer::ready() const { return impl_->ready; }
std::uint16_t SecureServer::port() const { return impl_->server->port(); }

void SecureServer::trust_clients(std::string authorities) {
  if (authorities == impl_->tls.client_authorities) return;
  http::ServerTls next = impl_->tls;
  next.client_authorities = std::move(authorities);
  impl_->use(std::move(next));
}

void SecureServer::stop(std::chrono::seconds grace, std::function<void()> done) {
  impl_->server->stop(grace, std::move(done));
}

}  // namespace berth::serve
