// The present credentials of the client: tokens and certificates, reloaded as they rotate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/lifetime.h"
#include "kube/exec_plugin.h"
#include "kube/kubeconfig.h"
#include "kube/transport/tls.h"

namespace berth::kube {

// Files are read again after kReadAgain. A plugin runs again kBeforeExpiry before its credential expires.
inline constexpr Duration kReadAgain = std::chrono::seconds(60);
inline constexpr Duration kBeforeExpiry = std::chrono::seconds(10);

struct Identity {
  std::string authorization;  // value of the header; empty: none
  TlsIdentity tls;
  bool operator==(const Identity&) const = default;
};

class Credentials {
 public:
  // `executor` must outlive the credentials. The plugin runs on a thread of its own.
  Credentials(Executor& executor, Access access, ReadFile read = read_file);
  ~Credentials();

  // Calls `done` with the present identity, on the executor; inside this call when it is known. Calls that wait share
  // one lookup. A failed lookup is remembered for 1 s.
  void get(std::function<void(const Result<Identity>&)> done);
  // The server answered 401: the next get() looks the identity up again.
  void refused();

 private:
  Result<std::string> pem(const PemSource& source) const;
  Result<Identity> look(const std::optional<ExecCredential>& plugin) const;
  void run_plugin();
  void settle(Result<Identity> identity, std::optional<Time> expires);

  Executor& executor_;
  const Access access_;
  const ReadFile read_;
  std::optional<Result<Identity>> known_;
  Time good_until_{};
  std::vector<std::function<void(const Result<Identity>&)>> waiting_;
  std::thread plugin_;
  Lifetime lifetime_;
};

}  // namespace berth::kube
