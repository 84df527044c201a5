// A real kube-apiserver with its etcd, from the folder that KUBEBUILDER_ASSETS names (the Kubernetes convention): new
// and empty, on loopback, with the admission plugins and authorization of a cluster. It ends with the test. No
// controller runs with it, except the garbage collector when a test starts it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "embedded/apiserver/http/pki.h"
#include "support/process.h"

namespace berth::testing_support {

// Message of a test that is skipped because there is no real API server.
inline constexpr const char* kNoRealApiServer = "not run on a real API server: KUBEBUILDER_ASSETS is not set";

struct RealApiServerOptions {
  std::vector<std::string> tokens;  // lines of a token file: token,user,uid,"group"
  bool aggregation = false;         // proxies requests to the servers of APIServices, with the name of the user
};

class RealApiServer {
 public:
  static bool configured();             // KUBEBUILDER_ASSETS is set
  static bool has_garbage_collector();  // the folder has a kube-controller-manager

  // Returns when the server is ready. Throws std::runtime_error when a program is missing (with its path) or does not
  // become ready (with its last output).
  explicit RealApiServer(const RealApiServerOptions& options = {});
  ~RealApiServer();
  RealApiServer(const RealApiServer&) = delete;
  RealApiServer& operator=(const RealApiServer&) = delete;

  const std::string& dir() const { return dir_; }  // a private directory; tests may write to it
  // credentials of kubernetes-admin in system:masters
  std::string kubeconfig() const { return dir_ + "/kubeconfig"; }
  std::uint16_t port() const { return port_; }
  const std::string& authority() const { return pki_.authority.certificate; }
  const apiserver::http::Credential& admin() const { return pki_.admin; }
  std::string minor_version() const;  // "1.32"

  // Deletes orphans of deleted owners, and the content of deleted namespaces. Of resources that are defined later it
  // learns only within 30 seconds. Does nothing without has_garbage_collector().
  void start_garbage_collector();

 private:
  bool start(int attempt);
  bool answers(const std::string& path) const;

  RealApiServerOptions options_;
  std::string dir_;
  apiserver::http::Pki pki_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Daemon> etcd_, server_, manager_;
};

}  // namespace berth::testing_support
