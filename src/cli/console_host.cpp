#include "cli/console_host.h"

#include <openssl/rand.h>

#include <optional>
#include <utility>

#include "api/resources.h"
#include "base/base64.h"
#include "base/embedded.h"
#include "base/log.h"
#include "cli/journal_history.h"
#include "cli/version.h"
#include "console/server.h"
#include "http/https_server.h"
#include "http/listen_address.h"
#include "jobs/kinds/job_kind.h"
#include "jobs/kinds/read/shipped.h"
#include "kube/client.h"
#include "serve/delegated_auth.h"
#include "serve/local_certificates.h"

namespace berth::cli {
namespace {

// How long answers about tokens are kept. A token that is refused may be valid a moment later.
constexpr std::chrono::seconds kTokenLifetime{60}, kRefusalLifetime{5};

std::string console_url(bool tls, std::string host, std::uint16_t port) {
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (tls ? "https://" : "http://") + host + ":" + std::to_string(port);
}

// What may stand between a pod and the owner of its workload: any kind of job that Berth knows.
std::vector<api::GroupVersionResource> owners() {
  std::vector<api::GroupVersionResource> kinds{api::kJobs};
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) kinds.push_back(kind->resource);
  return kinds;
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace

Result<void> check_plain_http(const http::ListenAddress& address, bool encrypted) {
  if (encrypted || is_loopback(address.address)) return {};
  return fail("other machines reach " + address.address +
              ", and tokens must not travel in plain text: use berth console with --tls-cert and --tls-key, or with "
              "--plain-http behind an ingress that ends TLS");
}

// The members are in the order in which they depend on each other; they are destroyed in reverse order.
struct ConsoleHost::Impl {
  Impl(Executor& e, Options o) : executor(e), options(std::move(o)) {}

  Result<void> open() {
    auto proxies = console::TrustedProxies::parse(options.trusted_proxies);
    if (!proxies) return fail("--trusted-proxies " + proxies.error().message);
    if (auto read = read_certificate(); !read) return read;
    auto made = kube::Client::make(executor, options.access);
    if (!made) return tl::unexpected(made.error());
    client = std::move(*made);
    serve::DelegatedAuthOptions auth_options;
    auth_options.anonymous = false;
    auth_options.token_lifetime = kTokenLifetime;
    auth_options.refusal_lifetime = kRefusalLifetime;
    auth_options.audiences = options.audiences;
    auth.emplace(*client, executor, auth_options);
    api::RestClient& reader = options.reader != nullptr ? *options.reader : *client;
    console.emplace(console::ConsoleParts{.client = reader,
                                          .auth = *auth,
                                          .executor = executor,
                                          .files = embedded::console(),
                                          .version = this_build().version,
                                          .allow_changes = options.allow_changes,
                                          .proxies = std::move(*proxies),
                                          .owners = owners(),
                                          .read_path =
                                              [this](std::string path, std::function<void(api::RestResponse)> done) {
                                                client->get(std::move(path), std::move(done));
                                              },
                                          .as_user = [this](const std::string& token) { return as_user(token); },
                                          .history = history()});
    const bool any = options.listen.empty();
    auto done = listen(any ? kConsoleListen : options.listen);
    return done || !any ? done : listen("127.0.0.1:0");
  }

  // The same server, with nothing but the user's token.
  Result<std::shared_ptr<api::RestClient>> as_user(const std::string& token) {
    kube::Access access;
    access.server = options.access.server;
    access.authority = options.access.authority;
    access.insecure = options.access.insecure;
    access.tls_server_name = options.access.tls_server_name;
    access.proxy_url = options.access.proxy_url;
    access.token = token;
    access.origin = "the token of a user of the console";
    kube::ClientOptions once;
    once.max_tries = 1;  // a change is not repeated unasked
    auto made = kube::Client::make(executor, access, once);
    if (!made) return tl::unexpected(made.error());
    // The last owner may be a callback of the client: it is destroyed later.
    return std::shared_ptr<api::RestClient>(made->release(), [this](api::RestClient* user) {
      executor.post([owner = std::shared_ptr<api::RestClient>(user)] {});
    });
  }

  console::HistorySource history() {
    if (options.journal.empty()) return nullptr;
    strips.emplace(executor, options.journal);
    return [this](console::HistoryQuestion question, std::function<void(Result<Json>)> done) {
      strips->ask(std::move(question), std::move(done));
    };
  }

  Result<void> read_certificate() {
    if (options.tls_cert.empty() != options.tls_key.empty()) return fail("--tls-cert and --tls-key belong together");
    if (options.tls_cert.empty()) return {};
    certificates.emplace(executor, options.tls_cert, options.tls_key);
    if (auto read = certificates->start(); !read) return fail("--tls-cert, --tls-key: " + read.error().message);
    return {};
  }

  // The context of the present certificate; null without one.
  Result<TlsContext> tls() const {
    if (!certificates) return TlsContext();
    http::ServerTls server_tls;
    server_tls.server = *certificates->current();
    return http::make_server_context(server_tls);
  }

  // New connections get the renewed certificate.
  void follow_certificate() {
    if (!certificates) return;
    renewals = certificates->listen([this](const http::Credential&) {
      auto context = tls();
      if (!context)
        log::warn("the console's renewed certificate cannot be used", {{"why", context.error().message}});
      else
        server->use(std::move(*context));
    });
  }

  Result<void> listen(const std::string& where) {
    const auto endpoint = http::parse_listen_address("--listen", where);
    if (!endpoint) return tl::unexpected(endpoint.error());
    http::HttpsServerOptions https;
    https.address = endpoint->address;
    https.port = endpoint->port;
    auto context = tls();
    if (!context) return tl::unexpected(context.error());
    const bool secure = *context != nullptr;
    if (auto safe = check_plain_http(*endpoint, secure || options.plain_http); !safe) return safe;
    auto started = http::HttpsServer::start(*console, executor, std::move(*context), https);
    if (!started)
      return fail(started.error().message + "; free the port, or choose another address with " + options.listen_flag);
    server = std::move(*started);
    follow_certificate();
    url = console_url(secure, endpoint->address, server->port());
    return {};
  }

  Executor& executor;
  const Options options;
  std::unique_ptr<kube::Client> client;
  std::optional<serve::DelegatedAuth> auth;
  std::optional<serve::FileCertificates> certificates;
  std::optional<JournalHistory> strips;
  std::optional<console::Console> console;
  std::unique_ptr<http::HttpsServer> server;
  std::shared_ptr<void> renewals;
  std::string url;
};

ConsoleHost::ConsoleHost(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConsoleHost::~ConsoleHost() = default;

Result<std::unique_ptr<ConsoleHost>> ConsoleHost::open(Executor& executor, Options options) {
  auto impl = std::make_unique<Impl>(executor, std::move(options));
  if (auto opened = impl->open(); !opened) return tl::unexpected(opened.error());
  return std::unique_ptr<ConsoleHost>(new ConsoleHost(std::move(impl)));
}

void ConsoleHost::start() { impl_->console->start(); }
const std::string& ConsoleHost::url() const { return impl_->url; }
void ConsoleHost::stop(std::chrono::seconds grace, std::function<void()> done) {
  impl_->console->stop();
  impl_->server->stop(grace, std::move(done));
}

std::string make_console_token() {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return {};
  return base64url_encode({reinterpret_cast<const char*>(bytes), sizeof bytes});
}

}  // namespace berth::cli
