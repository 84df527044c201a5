// The API server that a subcommand uses, and a check of the rights on it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct AccessFlags {
  std::string kubeconfig;  // --kubeconfig; empty: $KUBECONFIG, else the pod's service account, else ~/.kube/config
  std::string context;     // --context; empty: the kubeconfig's current context
};
void add_access_flags(CLI::App& app, AccessFlags& flags);

struct FoundAccess {
  kube::Access access;
  bool in_cluster = false;
};
Result<FoundAccess> find_access(const AccessFlags& flags);

// Clients without a limit of requests, for programs that play parts of a cluster: `prompt` does not repeat a request
// that fails, as an AccessCheck needs it.
struct UnlimitedClients {
  std::unique_ptr<kube::Client> client, prompt;
};
Result<UnlimitedClients> unlimited_clients(Executor& executor, const kube::Access& access,
                                           const std::string& user_agent);

// At the start, an API server that is unreachable for longer than this is an error.
inline constexpr std::chrono::seconds kReachWithin{30};

// A resource that must be readable: all objects of `resource`, or its object `name`.
struct Needed {
  api::GroupVersionResource resource;
  std::string ns = {}, name = {};
  bool may_be_missing = false;  // 404 is a good answer too
};

// Requests each of them, in order, until all are answered. Calls `done` once: with success, with the first refusal
// that a retry would not change (one line that says what to do), or with the reason why the server is not reachable
// after kReachWithin. `client` must not retry by itself and must outlive the check. The destructor ends the check.
class AccessCheck {
 public:
  AccessCheck(api::RestClient& client, Executor& executor, const kube::Access& access, std::vector<Needed> needed,
              std::function<void(Result<void>)> done);
  ~AccessCheck();
  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Explains a refusal to the user who runs Berth, and says what to do. For 401, 403, 404 and untrusted servers; for
// other errors it only says what happened. `access` is named in the text.
std::string explain_refusal(const api::RestResponse& response, const api::GroupVersionResource& resource,
                            const kube::Access& access);

}  // namespace berth::cli
