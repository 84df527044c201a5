#include "e2e/controller.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace berth::e2e {

std::string http_get(int port, const std::string& path) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  std::string answer;
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    ::send(connection, request.data(), request.size(), MSG_NOSIGNAL);
    char piece[4096];
    for (ssize_t n; (n = ::recv(connection, piece, sizeof piece, 0)) > 0;)
      answer.append(piece, static_cast<std::size_t>(n));
  }
  ::close(connection);
  return answer;
}

std::string controller_configuration(int webhook_port, int visibility_port, std::chrono::seconds lease) {
  return "apiVersion: config.kueue.x-k8s.io/v1beta2\n"
         "kind: Configuration\n"
         "integrations: {frameworks: [batch/job, pod, deployment, statefulset, "
         "leaderworkerset.x-k8s.io/leaderworkerset]}\n"
         "health: {healthProbeBindAddress: \"127.0.0.1:0\"}\n"
         "metrics: {bindAddress: \"127.0.0.1:0\"}\n"
         "webhook: {host: 127.0.0.1, port: " +
         std::to_string(webhook_port) +
         "}\n"
         "visibilityServer: {bindAddress: 127.0.0.1, bindPort: " +
         std::to_string(visibility_port) +
         "}\n"
         "leaderElection: {leaderElect: true, leaseDuration: " +
         std::to_string(lease.count()) + "s, renewDeadline: " + std::to_string(lease.count() - 1) +
         "s, retryPeriod: 500ms}\n";
}

ControllerProcess::ControllerProcess(const Cluster& server) {
  static int number = 0;
  const std::string config = server.write_file("controller-" + std::to_string(++number) + ".yaml",
                                               controller_configuration(free_port(), free_port(), kLease));
  process_ = std::make_unique<Process>(
      std::vector<std::string>{BERTH_PROGRAM, "controller", "--kubeconfig", server.kubeconfig(), "--config", config,
                               "--log-level", "error"},
      server.environment());
}

}  // namespace berth::e2e
