#include "cli/cluster_access.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "api/kueue/types.h"
#include "api/status.h"
#include "base/log.h"
#include "kube/client.h"

namespace berth::cli {
namespace {

constexpr Duration kAskAgainAfter = std::chrono::seconds(1);

std::string name_of(const api::GroupVersionResource& resource) {
  return resource.resource + "." + (resource.group.empty() ? "" : resource.group + "/") + resource.version;
}

// Whether a retry may succeed.
bool passes(const api::RestResponse& response) {
  if (response.code == 0) return api::status_reason(response) != kube::kHopeless;
  return response.code == 429 || response.code >= 500;
}

}  // namespace

void add_access_flags(CLI::App& app, AccessFlags& flags) {
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "The kubeconfig to use (default: $KUBECONFIG, else the pod's service account, else ~/.kube/config)");
  app.add_option("--context", flags.context, "The kubeconfig's context to use (default: its current one)");
}

Result<UnlimitedClients> unlimited_clients(Executor& executor, const kube::Access& access,
                                           const std::string& user_agent) {
  kube::ClientOptions options;
  options.user_agent = user_agent;
  options.rate.per_second = 0;
  auto client = kube::Client::make(executor, access, options);
  options.max_tries = 1;
  auto prompt = kube::Client::make(executor, access, options);
  if (!client || !prompt) return tl::unexpected((!client ? client : prompt).error());
  return UnlimitedClients{std::move(*client), std::move(*prompt)};
}

Result<FoundAccess> find_access(const AccessFlags& flags) {
  const char* kubeconfig = std::getenv("KUBECONFIG");
  const bool named = !flags.kubeconfig.empty() || (kubeconfig != nullptr && *kubeconfig != '\0');
  if (!named && flags.context.empty()) {
    auto pod = kube::in_cluster_access(std::getenv("KUBERNETES_SERVICE_HOST"), std::getenv("KUBERNETES_SERVICE_PORT"));
    if (pod) return FoundAccess{std::move(*pod), true};
  }
  auto files = kube::kubeconfig_files(flags.kubeconfig, kubeconfig, std::getenv("HOME"));
  // The one in the home directory is the default: nobody needs to have it.
  std::error_code error;
  if (!named) std::erase_if(files, [&](const std::string& file) { return !std::filesystem::exists(file, error); });
  auto access = kube::load_kubeconfig(files, flags.context);
  if (!access) return tl::unexpected(access.error());
  return FoundAccess{std::move(*access), false};
}

std::string explain_refusal(const api::RestResponse& response, const api::GroupVersionResource& resource,
                            const kube::Access& access) {
  const std::string message(api::status_message(response));
  if (response.code == 401)
    return access.server + " does not accept the credentials of " + access.origin +
           ": they may have expired; renew the token or certificate, or choose another context";
  if (response.code == 403)
    return access.server + " refuses: " + message +
           "; bind the user to the ClusterRole kueue-manager-role and the roles in its namespace "
           "(config/install/berth.yaml has them)";
  if (response.code == 404 && resource.group == api::kueue::kGroup)
    return access.server + " does not serve " + name_of(resource) +
           ": install Kueue's definitions first (kubectl apply --server-side -f config/crd)";
  if (response.code == 404)
    return access.server + " does not serve " + name_of(resource) + ": Berth needs a newer Kubernetes";
  const bool hopeless = response.code == 0 && api::status_reason(response) == kube::kHopeless;
  const std::string remedy = hopeless ? "; check certificate-authority and the credentials there" : "";
  if (response.code == 0) return access.server + " cannot be used (" + access.origin + "): " + message + remedy;
  return access.server + " answers " + std::to_string(response.code) + " for " + name_of(resource) + ": " + message;
}

struct AccessCheck::Impl : std::enable_shared_from_this<AccessCheck::Impl> {
  Impl(api::RestClient& c, Executor& e, kube::Access a, std::vector<Needed> n, std::function<void(Result<void>)> d)
      : client(c), executor(e), access(std::move(a)), needed(std::move(n)), done(std::move(d)) {}

  void ask() {
    if (next == needed.size()) return std::exchange(done, {})({});
    const Needed& what = needed[next];
    api::RestRequest request;
    request.resource = what.resource;
    request.ns = what.ns;
    request.name = what.name;
    request.verb = what.name.empty() ? api::Verb::kList : api::Verb::kGet;
    if (what.name.empty()) request.limit = 1;
    client.call(std::move(request), [weak = weak_from_this()](const api::RestResponse& response) {
      if (const auto self = weak.lock()) self->answered(response);
    });
  }

  void answered(const api::RestResponse& response) {
    const Needed& what = needed[next];
    if (response.ok() || (response.code == 404 && what.may_be_missing)) {
      ++next;
      return ask();
    }
    const std::string why = explain_refusal(response, what.resource, access);
    if (!passes(response) || executor.now() >= give_up) return std::exchange(done, {})(fail(why));
    if (!std::exchange(warned, true)) log::warn("the API server cannot be used yet; trying again", {{"why", why}});
    timer = executor.after(kAskAgainAfter, [this] { ask(); });
  }

  api::RestClient& client;
  Executor& executor;
  const kube::Access access;
  const std::vector<Needed> needed;
  std::function<void(Result<void>)> done;
  std::size_t next = 0;
  Time give_up{};
  bool warned = false;
  TimerId timer = 0;
};

AccessCheck::AccessCheck(api::RestClient& client, Executor& executor, const kube::Access& access,
                         std::vector<Needed> needed, std::function<void(Result<void>)> done)
    : impl_(std::make_shared<Impl>(client, executor, access, std::move(needed), std::move(done))) {}
AccessCheck::~AccessCheck() { impl_->executor.cancel(impl_->timer); }

void AccessCheck::start() {
  impl_->give_up = impl_->executor.now() + kReachWithin;
  impl_->ask();
}

}  // namespace berth::cli
