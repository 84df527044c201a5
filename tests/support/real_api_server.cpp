#include "support/real_api_server.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "base/json.h"
#include "support/free_port.h"
#include "support/https_client.h"
#include "support/scratch_dir.h"

namespace berth::testing_support {
namespace {

constexpr const char* kProxy = "front-proxy-client";  // the identity with which it proxies requests
constexpr int kAttempts = 3;                          // another process may take a free port before the server binds it

const char* assets() { return std::getenv("KUBEBUILDER_ASSETS"); }

std::string program(const std::string& name) {
  const std::string path = std::string(assets()) + "/" + name;
  if (::access(path.c_str(), X_OK) != 0)
    throw std::runtime_error(path + " is missing: KUBEBUILDER_ASSETS names a folder with kube-apiserver and etcd");
  return path;
}

std::string loopback(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

void write(const std::string& path, const std::string& content) {
  if (const auto written = apiserver::http::write_private_file(path, content); !written)
    throw std::runtime_error(written.error().message);
}

}  // namespace

bool RealApiServer::configured() { return assets() != nullptr && *assets() != '\0'; }

bool RealApiServer::has_garbage_collector() {
  return configured() && ::access((std::string(assets()) + "/kube-controller-manager").c_str(), X_OK) == 0;
}

RealApiServer::RealApiServer(const RealApiServerOptions& options) : options_(options) {
  if (!configured()) throw std::runtime_error(kNoRealApiServer);
  dir_ = make_scratch_dir("berth_real");
  const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  auto pki =
      apiserver::http::load_or_create_pki(dir_ + "/pki", {"localhost", "127.0.0.1", "kubernetes.default.svc"}, now);
  if (!pki) throw std::runtime_error(pki.error().message);
  pki_ = std::move(*pki);
  const auto proxy = http::make_client_credential(pki_.authority, kProxy, {}, now);
  if (!proxy) throw std::runtime_error(proxy.error().message);
  write(dir_ + "/pki/proxy.crt", proxy->certificate);
  write(dir_ + "/pki/proxy.key", proxy->key);
  std::string tokens;
  for (const std::string& line : options_.tokens) tokens += line + "\n";
  write(dir_ + "/tokens.csv", tokens);
  for (int attempt = 1; !start(attempt); ++attempt) {
    if (attempt == kAttempts)
      throw std::runtime_error("kube-apiserver does not start:\n" + etcd_->last_lines() + server_->last_lines());
  }
}

RealApiServer::~RealApiServer() {
  manager_.reset();
  server_.reset();
  etcd_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

bool RealApiServer::start(int attempt) {
  const std::string etcd = loopback(free_port()), peer = loopback(free_port()), pki = dir_ + "/pki/";
  port_ = free_port();
  server_.reset();
  etcd_ = std::make_unique<Daemon>(
      std::vector<std::string>{program("etcd"), "--data-dir=" + dir_ + "/etcd" + std::to_string(attempt),
                               "--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
                               "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
                               "--initial-cluster=default=" + peer, "--unsafe-no-fsync"},
      dir_ + "/etcd.log");
  std::vector<std::string> command = {program("kube-apiserver"),
                                      "--etcd-servers=" + etcd,
                                      "--bind-address=127.0.0.1",
                                      "--advertise-address=127.0.0.1",
                                      "--secure-port=" + std::to_string(port_),
                                      "--cert-dir=" + dir_ + "/certs",
                                      "--tls-cert-file=" + pki + "server.crt",
                                      "--tls-private-key-file=" + pki + "server.key",
                                      "--client-ca-file=" + pki + "ca.crt",
                                      "--token-auth-file=" + dir_ + "/tokens.csv",
                                      "--service-account-issuer=https://kubernetes.default.svc",
                                      "--service-account-key-file=" + pki + "server.crt",
                                      "--service-account-signing-key-file=" + pki + "server.key",
                                      "--service-cluster-ip-range=10.0.0.0/24",
                                      "--authorization-mode=RBAC",
                                      "--disable-admission-plugins=ServiceAccount",
                                      "--allow-privileged=true"};
  if (options_.aggregation) {
    for (const std::string& flag :
         {"--proxy-client-cert-file=" + pki + "proxy.crt", "--proxy-client-key-file=" + pki + "proxy.key",
          "--requestheader-client-ca-file=" + pki + "ca.crt", "--requestheader-allowed-names=" + std::string(kProxy),
          std::string("--requestheader-username-headers=X-Remote-User"),
          std::string("--requestheader-group-headers=X-Remote-Group"),
          std::string("--requestheader-extra-headers-prefix=X-Remote-Extra-")})
      command.push_back(flag);
  }
  server_ = std::make_unique<Daemon>(std::move(command), dir_ + "/kube-apiserver.log");
  write(kubeconfig(), apiserver::http::make_kubeconfig(pki_, "https://127.0.0.1:" + std::to_string(port_)));
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (!answers("/readyz") || !answers("/api/v1/namespaces/default")) {
    if (server_->ended() || etcd_->ended() || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // polling interval
  }
  return true;
}

void RealApiServer::start_garbage_collector() {
  if (!has_garbage_collector()) return;
  manager_ = std::make_unique<Daemon>(
      std::vector<std::string>{program("kube-controller-manager"), "--kubeconfig=" + kubeconfig(),
                               "--bind-address=127.0.0.1", "--secure-port=" + std::to_string(free_port()),
                               "--cert-dir=" + dir_ + "/manager-certs", "--leader-elect=false",
                               "--use-service-account-credentials=false",
                               "--controllers=garbage-collector-controller,namespace-controller"},
      dir_ + "/kube-controller-manager.log");
}

bool RealApiServer::answers(const std::string& path) const {
  return HttpsClient(port_, authority(), admin()).request("GET", path).status == 200;
}

std::string RealApiServer::minor_version() const {
  const auto version = parse_json(HttpsClient(port_, authority(), admin()).request("GET", "/version").body);
  if (!version) throw std::runtime_error("/version: " + version.error().message);
  std::string minor(string_at(*version, {"minor"}));
  minor.resize(std::min(minor.find_first_not_of("0123456789"), minor.size()));  // some builds append a plus sign
  return std::string(string_at(*version, {"major"})) + "." + minor;
}

}  // namespace berth::testing_support
