// The web console of this process: its handler, the HTTP server in front of it, and the clients behind it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"
#include "http/listen_address.h"
#include "kube/kubeconfig.h"

namespace berth::cli {

inline constexpr const char* kConsoleListen = "127.0.0.1:7080";

// Whether a console may listen there. `encrypted`: here, or by an ingress in front of it.
Result<void> check_plain_http(const http::ListenAddress& address, bool encrypted);

class ConsoleHost {
 public:
  struct Options {
    kube::Access access;                // the API server, with the console's own account
    api::RestClient* reader = nullptr;  // reads objects in the place of a client for `access`; null: that client
    // address:port; empty: kConsoleListen, or any port when that one is taken
    std::string listen;
    std::string listen_flag = "--listen";  // the flag that says so, for errors
    std::string tls_cert, tls_key;         // files with PEM, read again when they change; empty: plain HTTP
    bool plain_http = false;               // plain HTTP also on addresses that other machines reach
    bool allow_changes = false;
    std::vector<std::string> trusted_proxies;  // addresses and ranges whose X-Forwarded-For counts
    std::string journal;                       // a directory; empty: no history
    std::vector<std::string> audiences;        // of users' tokens; empty: the API server's own
  };
  // Listens when this returns; errors name the address.
  static Result<std::unique_ptr<ConsoleHost>> open(Executor& executor, Options options);
  ~ConsoleHost();

  void start();                    // begins to read the cluster
  const std::string& url() const;  // without a slash at the end
  // As HttpsServer::stop(); open pages get a last event.
  void stop(std::chrono::seconds grace, std::function<void()> done);

 private:
  struct Impl;
  explicit ConsoleHost(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A random bearer token, for a login by a link.
std::string make_console_token();

}  // namespace berth::cli
