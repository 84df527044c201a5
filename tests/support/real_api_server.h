// A real kube-apiserver and its etcd, from the folder that KUBEBUILDER_ASSETS names (the Kubernetes
// convention): new and empty, on loopback, with admission and authorization as a cluster has them; gone with
// the test. No controller runs beside it but, when the folder has a kube-controller-manager and it is asked
// for, the garbage collector.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/http/pki.h"
#include "support/process.h"

namespace berth::testing_support {

// What a test says that is not run without one.
inline constexpr const char* kNoRealApiServer = "not run on a real API server: KUBEBUILDER_ASSETS is not set";

struct RealApiServerOptions {
  std::vector<std::string> tokens;  // lines of a token file: token,user,uid,"group"
  bool aggregation = false;         // hands requests on to servers of APIServices, and says for whom
  bool garbage_collector = false;   // deletes what owners leave behind, and the content of deleted namespaces
};

class RealApiServer {
 public:
  static bool configured();             // KUBEBUILDER_ASSETS is set
  static bool has_garbage_collector();  // its folder has a kube-controller-manager

  // Ready to serve. Throws std::runtime_error: a program is missing (its path), or does not get ready (its
  // last words).
  explicit RealApiServer(const RealApiServerOptions& options = {});
  ~RealApiServer();
  RealApiServer(const RealApiServer&) = delete;
  RealApiServer& operator=(const RealApiServer&) = delete;

  const std::string& dir() const { return dir_; }                  // of its own; may be written to
  std::string kubeconfig() const { return dir_ + "/kubeconfig"; }  // of kubernetes-admin in system:masters
  std::uint16_t port() const { return port_; }
  const std::string& authority() const { return pki_.authority.certificate; }
  const apiserver::http::Credential& admin() const { return pki_.admin; }
  std::string minor_version() const;  // "1.32"

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
