#include "serve/secure_server.h"

#include <utility>

#include "base/log.h"

namespace berth::serve {
namespace {

// Another process may take the port between bind() and listen().
constexpr std::chrono::seconds kListenAgain{1};

}  // namespace

struct SecureServer::Impl {
  explicit Impl(Executor& e) : executor(e) {}
  ~Impl() { executor.cancel(timer); }

  // Applies the TLS settings if they are usable; otherwise the previous ones stay.
  void use(http::ServerTls next) {
    auto context = http::make_server_context(next);
    if (!context)
      return log::error("the certificate cannot be used, the one before stays", {{"why", context.error().message}});
    tls = std::move(next);
    server->use(std::move(*context));
    if (!ready && timer == 0) open();
  }

  void open() {
    timer = 0;
    const auto opened = server->listen();
    ready = opened.has_value();
    if (ready) return;
    log::error("the port cannot be opened, trying again", {{"why", opened.error().message}});
    timer = executor.after(kListenAgain, [this] { open(); });
  }

  Executor& executor;
  http::ServerTls tls;  // without a certificate until the source has one
  std::unique_ptr<http::HttpsServer> server;
  std::shared_ptr<void> listening;
  TimerId timer = 0;  // of the next try to open the port
  bool ready = false;
};

SecureServer::SecureServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SecureServer::~SecureServer() = default;

Result<std::unique_ptr<SecureServer>> SecureServer::start(http::Handler& handler, Executor& executor,
                                                          CertificateSource& source, SecureServerOptions options) {
  auto impl = std::make_unique<Impl>(executor);
  impl->tls = {{}, {}, options.min_version, options.cipher_suites, options.groups};
  if (auto usable = http::check_tls_options(impl->tls); !usable) return tl::unexpected(usable.error());
  http::HttpsServerOptions https;
  https.address = std::move(options.address);
  https.port = options.port;
  https.threads = options.threads;
  https.max_body_bytes = options.max_body_bytes;
  https.stranger_bytes_per_peer = options.stranger_bytes_per_peer;
  https.stranger_bytes = options.stranger_bytes;
  auto server = http::HttpsServer::bind(handler, executor, std::move(https));
  if (!server) return tl::unexpected(server.error());
  impl->server = std::move(*server);
  impl->listening = source.listen([impl = impl.get()](const http::Credential& credential) {
    http::ServerTls next = impl->tls;
    next.server = credential;
    impl->use(std::move(next));
  });
  return std::unique_ptr<SecureServer>(new SecureServer(std::move(impl)));
}

bool SecureServer::ready() const { return impl_->ready; }
std::uint16_t SecureServer::port() const { return impl_->server->port(); }

void SecureServer::trust_clients(std::string authorities) {
  if (authorities == impl_->tls.client_authorities) return;
  if (impl_->tls.server.certificate.empty()) {
    impl_->tls.client_authorities = std::move(authorities);
    return;
  }
  http::ServerTls next = impl_->tls;
  next.client_authorities = std::move(authorities);
  impl_->use(std::move(next));
}

void SecureServer::stop(std::chrono::seconds grace, std::function<void()> done) {
  impl_->executor.cancel(std::exchange(impl_->timer, 0));
  impl_->listening.reset();
  impl_->server->stop(grace, std::move(done));
}

}  // namespace berth::serve
