// Start and failures of `berth controller`: one line says what is wrong and what to do.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/base64.h"
#include "e2e/controller.h"
#include "http/certificates.h"
#include "serve/tls_probe.h"

namespace berth::e2e::controller_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string only_line(const Finished& finished, int exit_code = 1) {
  EXPECT_EQ(finished.exit_code, exit_code) << finished.out << finished.err;
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  EXPECT_EQ(finished.err.rfind("berth: ", 0), 0u) << finished.err;
  EXPECT_FALSE(has(finished.out, "ready")) << finished.out;
  return finished.err;
}

// A kubeconfig that trusts the CA `authority` (PEM; empty: any server) and sends `token`.
std::string kubeconfig_of(const std::string& url, const std::string& authority, const std::string& token) {
  const std::string trust =
      authority.empty() ? "insecure-skip-tls-verify: true" : "certificate-authority-data: " + base64_encode(authority);
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "clusters: [{name: c, cluster: {server: \"" +
         url + "\", " + trust +
         "}}]\n"
         "users: [{name: u, user: {token: " +
         token +
         "}}]\n"
         "contexts: [{name: here, context: {cluster: c, user: u}}]\n";
}

class Controller : public testing::Test {
 protected:
  Controller() : server({"--controller=false", "--nodes", "none", "--token-file", token_file()}) {
    config = server.write_file("controller.yaml", controller_configuration());
  }
  ~Controller() override { ::unlink(token_file().c_str()); }

  static std::string token_file() {
    const std::string file = testing::TempDir() + "berth_e2e_controller_tokens_" + std::to_string(::getpid());
    FILE* out = ::fopen(file.c_str(), "w");
    ::fputs("weak,somebody,u1\nstrong,admin,u2,\"system:masters\"\n", out);
    ::fclose(out);
    return file;
  }

  std::vector<std::string> command(std::vector<std::string> more) const {
    std::vector<std::string> all = {BERTH_PROGRAM, "controller", "--config", config, "--log-level", "error"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Finished start(std::vector<std::string> more) const { return run(command(std::move(more)), server.environment()); }
  Finished start_with(const std::string& kubeconfig) const {
    return start({"--kubeconfig", server.write_file("kubeconfig-of-a-test", kubeconfig)});
  }

  // Configures these ports, and that the certificate comes from files. Returns the directory, which is empty.
  std::string from_files(int health, int webhooks) {
    const std::string certificates = server.dir() + "/certificates";
    std::filesystem::create_directory(certificates);
    config = server.write_file(
        "files.yaml",
        "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, internalCertManagement: {enable: false}, "
        "health: {healthProbeBindAddress: \"127.0.0.1:" +
            std::to_string(health) + "\"}, metrics: {bindAddress: \"127.0.0.1:0\"}, webhook: {host: 127.0.0.1, port: " +
            std::to_string(webhooks) + ", certDir: " + certificates +
            "}, visibilityServer: {bindAddress: 127.0.0.1, bindPort: " + std::to_string(free_port()) + "}}");
    return certificates;
  }
  // One of those of the manifests; it calls nothing.
  void has_webhook_configuration() {
    server.must({"apply", "-f",
                 server.write_file("webhooks.yaml",
                                   "apiVersion: admissionregistration.k8s.io/v1\n"
                                   "kind: ValidatingWebhookConfiguration\n"
                                   "metadata: {name: kueue-validating-webhook-configuration}\n")});
  }

  Server server;
  std::string config;
};

TEST_F(Controller, TheServerIsNotTrusted) {
  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const std::string other = http::make_authority("other", now).value().certificate;
  const std::string line = only_line(start_with(kubeconfig_of(server.url(), other, "weak")));
  EXPECT_TRUE(has(line, server.url() + " cannot be used")) << line;
  EXPECT_TRUE(has(line, "cannot be trusted")) << line;
  EXPECT_TRUE(has(line, "certificate-authority")) << line;
}

TEST_F(Controller, ItsTokenIsNotAccepted) {
  const std::string line = only_line(start_with(kubeconfig_of(server.url(), "", "expired")));
  EXPECT_TRUE(has(line, "does not accept the credentials of context \"here\"")) << line;
  EXPECT_TRUE(has(line, "renew the token")) << line;
}

TEST_F(Controller, ItsRolesLackAVerb) {
  const std::string line = only_line(start_with(kubeconfig_of(server.url(), "", "weak")));
  EXPECT_TRUE(has(line, "\"somebody\" cannot get resource \"leases\"")) << line;
  EXPECT_TRUE(has(line, "config/install/berth.yaml")) << line;
}

TEST_F(Controller, DefinitionsAreMissing) {
  server.must({"delete", "crd", "clusterqueues.kueue.x-k8s.io"});
  const std::string line = only_line(start({}));
  EXPECT_TRUE(has(line, "does not serve clusterqueues.kueue.x-k8s.io/v1beta2")) << line;
  EXPECT_TRUE(has(line, "config/crd")) << line;
}

// It says what to do, in the log and to the readiness probe, and goes on when that is done.
TEST_F(Controller, ItsNamespaceIsMissing) {
  const int health = free_port();
  config = server.write_file(
      "ports.yaml",
      "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, health: {healthProbeBindAddress: "
      "\"127.0.0.1:" +
          std::to_string(health) + "\"}, metrics: {bindAddress: \"127.0.0.1:0\"}, webhook: {host: 127.0.0.1, port: " +
          std::to_string(free_port()) +
          "}, visibilityServer: {bindAddress: 127.0.0.1, bindPort: " + std::to_string(free_port()) + "}}");
  Process process(command({"--namespace", "elsewhere"}), server.environment());
  const std::string advice = "make it (kubectl create namespace elsewhere)";
  ASSERT_TRUE(eventually([&] { return has(http_get(health, "/readyz"), advice); })) << http_get(health, "/readyz");
  EXPECT_TRUE(process.wait_for_errors("kubectl create namespace elsewhere")) << process.err();
  EXPECT_FALSE(process.has_said("ready\n"));
  server.must({"create", "namespace", "elsewhere"});
  ASSERT_TRUE(process.wait_for_output("leading\n")) << process.err();
  EXPECT_TRUE(has(http_get(health, "/readyz"), "200 OK"));
}

TEST_F(Controller, APortIsInUse) {
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  socklen_t size = sizeof address;
  ::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string where = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  config = server.write_file(
      "taken.yaml",
      "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, health: {healthProbeBindAddress: \"" + where +
          "\"}}");
  const std::string line = only_line(start({}));
  EXPECT_TRUE(has(line, "cannot listen on " + where)) << line;
  EXPECT_TRUE(has(line, "health.healthProbeBindAddress")) << line;
  ::close(taken);
}

TEST_F(Controller, WhatItReadsMakesNoSense) {
  EXPECT_TRUE(has(only_line(start({"--kubeconfig", server.dir() + "/no-such-file"})), "no-such-file"));
  const std::string context = only_line(start({"--context", "nowhere"}));
  EXPECT_TRUE(has(context, "there is no context \"nowhere\" (there are: ")) << context;
  EXPECT_TRUE(has(only_line(start({"--feature-gates", "NoSuchGate=true"}), 2), "\"NoSuchGate\""));
  EXPECT_TRUE(has(only_line(run({BERTH_PROGRAM, "controller", "--log-level", "loud"}, {}), 2), "--log-level"));
  const Finished unknown = start({"--no-such-option"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(std::ranges::count(unknown.err, '\n'), 1) << unknown.err;
  EXPECT_TRUE(has(unknown.err, "--no-such-option")) << unknown.err;
  config = server.write_file("bad.yaml",
                             "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, health: {port: 1}}");
  EXPECT_TRUE(has(only_line(start({})), "health.port")) << "the path of what is unknown";
  config = server.dir() + "/no-such-config";
  EXPECT_TRUE(has(only_line(start({})), "no-such-config"));
}

// Waits for a server that does not answer for a moment, reports meanwhile what is missing, and then works.
TEST_F(Controller, ItIsReadyOnceEverythingIs) {
  server.must({"create", "namespace", "kueue-system"});
  const int health = free_port(), metrics = free_port();
  config = server.write_file(
      "ports.yaml",
      "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, health: {healthProbeBindAddress: "
      "\"127.0.0.1:" +
          std::to_string(health) + "\"}, metrics: {bindAddress: \"127.0.0.1:" + std::to_string(metrics) +
          "\"}, webhook: {host: 127.0.0.1, port: " + std::to_string(free_port()) +
          "}, visibilityServer: {bindAddress: 127.0.0.1, bindPort: " + std::to_string(free_port()) + "}}");
  const std::string kubeconfig = server.kubeconfig();
  server.signal(SIGSTOP);
  Process process({BERTH_PROGRAM, "controller", "--config", config, "--log-level", "error", "--kubeconfig", kubeconfig},
                  server.environment());
  ASSERT_TRUE(eventually([&] { return has(http_get(health, "/healthz"), "200 OK"); }));
  const std::string unready = http_get(health, "/readyz");
  EXPECT_TRUE(has(unready, " 500 ")) << unready;
  EXPECT_TRUE(has(unready, "not read from the API server yet: ")) << unready;
  EXPECT_TRUE(has(unready, "clusterqueues")) << unready;
  EXPECT_FALSE(process.has_said("ready\n"));
  server.signal(SIGCONT);
  ASSERT_TRUE(process.wait_for_output("leading\n")) << process.err();
  EXPECT_TRUE(has(http_get(health, "/readyz"), "200 OK"));
  EXPECT_NE(server.must({"-n", "kueue-system", "get", "secret", "kueue-webhook-server-cert", "-o",
                         "jsonpath={.data.ca\\.crt}"}),
            "");

  const auto scrape = [&](const std::string& token) {
    return server.kubectl({"--kubeconfig=/dev/null", "--server=https://127.0.0.1:" + std::to_string(metrics),
                           "--insecure-skip-tls-verify", "--token=" + token, "get", "--raw", "/metrics"});
  };
  const Finished reported = scrape("strong");
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_TRUE(has(reported.out, "berth_api_requests_total{code=\"200\",resource=\"clusterqueues\",verb=\"watch\"}"))
      << reported.out;
  EXPECT_TRUE(has(reported.out, "berth_leading 1")) << reported.out;
  // The admin's client certificate is accepted, because the API server publishes its CA.
  const auto as_admin = [&] {
    return server.kubectl({"--server=https://127.0.0.1:" + std::to_string(metrics), "--insecure-skip-tls-verify", "get",
                           "--raw", "/metrics"});
  };
  EXPECT_TRUE(eventually([&] { return has(as_admin().out, "berth_leading 1"); })) << as_admin().err;
  EXPECT_NE(scrape("weak").exit_code, 0) << "may not read metrics";
  EXPECT_NE(scrape("wrong").exit_code, 0);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 0) << process.err();
}

// Without a mounted certificate the webhook port is closed, and the readiness probe reports what is missing.
TEST_F(Controller, ItWaitsForACertificateFromFiles) {
  server.must({"create", "namespace", "kueue-system"});
  has_webhook_configuration();
  const int health = free_port(), webhooks = free_port();
  const std::string certificates = from_files(health, webhooks);
  Process process(
      {BERTH_PROGRAM, "controller", "--config", config, "--log-level", "warn", "--kubeconfig", server.kubeconfig()},
      server.environment());
  const std::string waits = "waiting for a certificate: cannot read " + certificates + "/tls.crt";
  ASSERT_TRUE(eventually([&] { return has(http_get(health, "/readyz"), waits); })) << http_get(health, "/readyz");
  EXPECT_TRUE(process.wait_for_errors(waits)) << process.err();
  EXPECT_FALSE(serve::probe_tls(static_cast<std::uint16_t>(webhooks)).connected);
  EXPECT_FALSE(process.has_said("ready\n"));

  const Time now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const auto authority = http::make_authority("of-a-test", now).value();
  const auto leaf = http::make_server_credential(authority, {"a"}, now).value();
  server.write_file("certificates/tls.key", leaf.key);
  server.write_file("certificates/tls.crt", leaf.certificate);
  ASSERT_TRUE(process.wait_for_output("ready\n")) << process.err();
  EXPECT_EQ(serve::probe_tls(static_cast<std::uint16_t>(webhooks)).certificate, leaf.certificate);
  EXPECT_FALSE(has(http_get(health, "/readyz"), "[-]certificates"));
}

// Nobody calls the webhooks: nobody needs to trust them.
TEST_F(Controller, ItNeedsNoCertificateWithoutWebhooks) {
  server.must({"create", "namespace", "kueue-system"});
  const int health = free_port();
  from_files(health, free_port());
  Process without_configuration(command({}), server.environment());
  ASSERT_TRUE(without_configuration.wait_for_output("leading\n")) << without_configuration.err();
  EXPECT_TRUE(has(http_get(health, "/readyz"), "200 OK"));
  without_configuration.signal(SIGTERM);
  EXPECT_EQ(without_configuration.wait().exit_code, 0) << without_configuration.err();

  has_webhook_configuration();
  const int other_health = free_port();
  from_files(other_health, free_port());
  Process without_webhooks(command({"--webhooks=false"}), server.environment());
  ASSERT_TRUE(without_webhooks.wait_for_output("leading\n")) << without_webhooks.err();
  EXPECT_TRUE(has(http_get(other_health, "/readyz"), "200 OK"));
}

// Waits half a minute for a server that is not reachable (yet).
TEST_F(Controller, TheServerIsOutOfReach) {
  const std::string url = "https://127.0.0.1:" + std::to_string(free_port());
  Process waiting({BERTH_PROGRAM, "controller", "--config", config, "--log-level", "warn", "--kubeconfig",
                   server.write_file("kubeconfig-of-nobody", kubeconfig_of(url, "", "weak"))},
                  server.environment());
  ASSERT_TRUE(waiting.wait_for_errors("trying again")) << waiting.err();
  const Finished finished = waiting.wait();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 2) << "a warning, and the end: " << finished.err;
  EXPECT_TRUE(has(finished.err, "\nberth: " + url + " cannot be used")) << finished.err;
  EXPECT_TRUE(has(finished.err, "Connection refused")) << finished.err;
}

}  // namespace
}  // namespace berth::e2e::controller_test
