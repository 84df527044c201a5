// Which API server a subcommand speaks to, and whether it may.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"
#include "kube/kubeconfig.h"

namespace CLI {
class App;
}

namespace berth::cli {

struct AccessFlags {
  std::string
      kubeconfig;  // --kubeconfig; empty: KUBECONFIG, else the pod's service account, else ~/.kube/config
  std::string context;  // --context; empty: the current one
};
void add_access_flags(CLI::App& app, AccessFlags& flags);

struct FoundAccess {
  kube::Access access;
  bool in_cluster = false;
};
Result<FoundAccess> find_access(const AccessFlags& flags);

// How long an API server may be out of reach at the start before that is an error.
inline constexpr std::chrono::seconds kReachWithin{30};

// What must be readable: objects of `resource`, or the one object `name` of it.
struct Needed {
  api::GroupVersionResource resource;
  std::string ns = {}, name = {};
  bool may_be_missing = false;  // 404 is an answer as good as any
};

// Asks for each of them, in order, until all have answered. `done` is called once: with the first refusal
// that asking again would not change, as one line that says what to do, or with why the server is out of
// reach after kReachWithin. `client` must not try again by itself, and outlive this; destroying the check
// ends it.
class AccessCheck {
 public:
  AccessCheck(api::RestClient& client, Executor& executor, const kube::Access& access,
              std::vector<Needed> needed, std::function<void(Result<void>)> done);
  ~AccessCheck();
  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// What a refusal means for whoever runs Berth and what to do; `origin` names the access. For 401, 403, 404
// and untrusted servers; otherwise only what happened.
std::string explain_refusal(const api::RestResponse& response, const api::GroupVersionResource& resource,
                            const kube::Access& access);

}  // namespace berth::cli
