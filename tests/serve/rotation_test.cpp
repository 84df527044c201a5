// Certificates that change while requests run, over real connections.
#include <gtest/gtest.h>

#include <atomic>

#include "serve/served.h"
#include "serve/tls_probe.h"
#include "support/https_client.h"

namespace berth::serve::rotation_test {
namespace {

using testing_support::HttpsClient;

constexpr std::string_view kPath = "/mutate-batch-v1-job?timeout=10s";

bool is_answered(HttpsClient& client, const std::string& review) {
  const auto answer = client.request("POST", std::string(kPath), review);
  return answer.status == 200 && answer.body.find(R"("patchType":"JSONPatch")") != std::string::npos;
}

TEST(Rotation, NoRequestFails) {
  constexpr int kRotations = 5, kRequests = 1'000;  // requests between two rotations, by all clients together
  constexpr int kKeptConnections = 2;
  Served served;
  const std::uint16_t port = served.server->port();
  const auto trusted = [&] { return served.on_executor([&] { return served.certificates.trusted(); }); };
  const auto presented = [&] { return served.on_executor([&] { return served.certificates.current()->certificate; }); };
  const std::string review = job_review();
  std::atomic<int> answered{0}, failed{0}, connections{0};
  std::atomic<bool> enough{false};

  std::vector<std::thread> clients;
  for (int i = 0; i < kKeptConnections; ++i) {
    clients.emplace_back([&, authorities = trusted()] {
      HttpsClient kept(port, authorities, {});
      while (!enough) ++(is_answered(kept, review) ? answered : failed);
    });
  }
  clients.emplace_back([&] {
    while (!enough) {
      // Like an API server, which trusts a new authority before that signs the certificate.
      HttpsClient fresh(port, trusted(), {});
      ++connections;
      for (int i = 0; i < 5; ++i) ++(is_answered(fresh, review) ? answered : failed);
    }
  });
  const auto wait_for = [&](int count) {
    while (answered + failed < count && failed == 0) std::this_thread::yield();
  };
  std::string before;
  for (int rotation = 1; rotation <= kRotations; ++rotation) {
    wait_for(rotation * kRequests);
    if (rotation % 2 == 0) {
      served.on_executor([&] { return served.certificates.change_authority(), 0; });
      // Wait until all new connections trust the new authority.
      for (const int heard = connections + 2; connections < heard && failed == 0;) std::this_thread::yield();
    }
    served.on_executor([&] { return served.certificates.change_leaf(), 0; });
    const std::string now = presented();
    EXPECT_NE(now, before);
    EXPECT_EQ(probe_tls(port).certificate, now) << "new connections see the new certificate";
    before = now;
  }
  wait_for((kRotations + 1) * kRequests);
  enough = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GE(answered, kRequests * kRotations);
  EXPECT_GE(connections, kRotations);
}

class GivenCertificates final : public CertificateSource {
 public:
  void give(http::Credential credential) { present(std::move(credential)); }
};

TEST(Rotation, ThePortOpensWithTheFirstCertificate) {
  GivenCertificates source;
  http::AsioExecutor executor;
  WebhookHandler handler({}, {});
  auto server = SecureServer::start(handler, executor, source, {.address = "127.0.0.1"}).value();
  const auto authority = http::make_authority("ca", executor.now()).value();
  server->trust_clients(authority.certificate);
  EXPECT_FALSE(server->ready());
  EXPECT_FALSE(probe_tls(server->port()).connected) << "there is nothing to present";
  const auto leaf = http::make_server_credential(authority, {"a"}, executor.now()).value();
  source.give(leaf);
  EXPECT_TRUE(server->ready());
  EXPECT_EQ(probe_tls(server->port()).certificate, leaf.certificate);
}

TEST(Rotation, APortThatSomebodyElseOpenedMeanwhileIsTriedAgain) {
  GivenCertificates source;
  VirtualExecutor executor(parse_time("2026-11-21T09:00:00Z").value());
  WebhookHandler handler({}, {});
  auto server = SecureServer::start(handler, executor, source, {.address = "127.0.0.1"}).value();
  http::AsioExecutor other_executor;
  auto other = http::HttpsServer::start(handler, other_executor, nullptr, {"127.0.0.1", server->port(), 1}).value();
  const auto authority = http::make_authority("ca", executor.now()).value();
  source.give(http::make_server_credential(authority, {"a"}, executor.now()).value());
  EXPECT_FALSE(server->ready());
  other.reset();
  executor.run_until(executor.now() + std::chrono::seconds(2));
  EXPECT_TRUE(server->ready());
}

TEST(Rotation, ACertificateThatCannotBeUsedChangesNothing) {
  GivenCertificates source;
  http::AsioExecutor executor;
  WebhookHandler handler({}, {});
  auto server = SecureServer::start(handler, executor, source, {.address = "127.0.0.1"}).value();
  source.give({"no certificate", "no key"});
  EXPECT_FALSE(server->ready());
  EXPECT_FALSE(probe_tls(server->port()).connected);
  const auto authority = http::make_authority("ca", executor.now()).value();
  const auto leaf = http::make_server_credential(authority, {"a"}, executor.now()).value();
  source.give(leaf);
  EXPECT_TRUE(server->ready());
  EXPECT_EQ(probe_tls(server->port()).certificate, leaf.certificate);
  source.give({leaf.certificate, authority.key});
  EXPECT_EQ(probe_tls(server->port()).certificate, leaf.certificate);
}

TEST(Rotation, APortInUseIsSaidAtOnce) {
  Served served;
  http::AsioExecutor executor;
  SecureServerOptions options;
  options.address = "127.0.0.1";
  options.port = served.server->port();
  ChangingCertificates certificates(executor.now());
  const auto second = WebhookServer::start(options, executor, {}, {}, certificates);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "webhooks: cannot listen on 127.0.0.1:" + std::to_string(options.port) + ": Address already in use");
}

TEST(TlsOptions, TheLowestVersionIsKept) {
  SecureServerOptions options;
  options.min_version = http::TlsVersion::k13;
  Served served(options);
  const std::uint16_t port = served.server->port();
  EXPECT_FALSE(probe_tls(port, {.max_version = TLS1_2_VERSION}).connected);
  EXPECT_EQ(probe_tls(port).version, TLS1_3_VERSION);
  Served lenient;
  EXPECT_EQ(probe_tls(lenient.server->port(), {.max_version = TLS1_2_VERSION}).version, TLS1_2_VERSION);
  EXPECT_FALSE(
      probe_tls(lenient.server->port(), {.min_version = TLS1_1_VERSION, .max_version = TLS1_1_VERSION}).connected);
}

TEST(TlsOptions, OnlyTheNamedCiphersAreSpoken) {
  SecureServerOptions options;
  options.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
  Served served(options);
  const auto with = [&](const std::string& ciphers) {
    return probe_tls(served.server->port(), {.max_version = TLS1_2_VERSION, .ciphers = ciphers});
  };
  EXPECT_EQ(with("").cipher, "ECDHE-ECDSA-AES256-GCM-SHA384");
  EXPECT_FALSE(with("ECDHE-ECDSA-AES128-GCM-SHA256").connected);
}

TEST(TlsOptions, KeysAreExchangedInTheNamedGroupsOnly) {
  SecureServerOptions options;
  options.groups = {"P-384", "P-256"};
  Served served(options);
  EXPECT_TRUE(probe_tls(served.server->port(), {.groups = "P-384"}).connected);
  EXPECT_FALSE(probe_tls(served.server->port(), {.groups = "X25519"}).connected);
}

TEST(TlsOptions, UnknownCiphersAreNamed) {
  http::AsioExecutor executor;
  ChangingCertificates certificates(executor.now());
  SecureServerOptions options;
  options.cipher_suites = {"TLS_NO_SUCH"};
  const auto server = WebhookServer::start(options, executor, {}, {}, certificates);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().message, "webhooks: unknown cipher suite TLS_NO_SUCH: expected an IANA name");
}

}  // namespace
}  // namespace berth::serve::rotation_test
