#include "support/real_api_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "base/json.h"
#include "support/https_client.h"

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

// Ports that are free at this moment, all different.
std::array<std::uint16_t, 4> free_ports() {
  std::array<std::uint16_t, 4> ports{};
  std::array<int, 4> sockets{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    sockets[i] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(sockets[i], reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no free port on 127.0.0.1");
    ports[i] = ntohs(address.sin_port);
  }
  for (const int s : sockets) ::close(s);
  return ports;
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
  char name[] = "/tmp/berth_real_XXXXXX";
  if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp failed");
  dir_ = name;
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
  const auto ports = free_ports();
  const std::string etcd = loopback(ports[0]), peer = loopback(ports[1]), pki = dir_ + "/pki/";
  port_ = ports[2];
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
  if (options_.garbage_collector && has_garbage_collector()) {
    manager_ = std::make_unique<Daemon>(
        std::vector<std::string>{program("kube-controller-manager"), "--kubeconfig=" + kubeconfig(),
                                 "--bind-address=127.0.0.1", "--secure-port=" + std::to_string(ports[3]),
                                 "--cert-dir=" + dir_ + "/manager-certs", "--leader-elect=false",
                                 "--use-service-account-credentials=false",
                                 "--controllers=garbage-collector-controller,namespace-controller"},
        dir_ + "/kube-controller-manager.log");
  }
  return true;
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
