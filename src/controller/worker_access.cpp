#include "controller/worker_access.h"

#include <optional>
#include <utility>

#include "base/yaml.h"

namespace berth::controller {
namespace {

constexpr YamlLimits kKubeconfigLimits{.max_bytes = 1u << 20, .max_depth = 32, .max_nodes = 20'000};
constexpr std::string_view kRefused = "load client config failed: ";

Unusable insecure(std::string why) { return {"InsecureKubeConfig", std::string(kRefused) + std::move(why)}; }

bool has_text(const Json& value, std::string_view key) { return !string_at(value, {key}).empty(); }

// Kueue looks at all clusters and users of the file, also at those that the current context does not name.
std::optional<std::string> refused_cluster(const Json& entry) {
  const std::string name(string_at(entry, {"name"}));
  const Json* cluster = find(entry, "cluster");
  if (cluster == nullptr || !has_text(*cluster, "server")) return "server URL is required for cluster " + name;
  if (bool_at(*cluster, {"insecure-skip-tls-verify"}))
    return "insecure TLS verification is not allowed for cluster " + name;
  if (has_text(*cluster, "certificate-authority"))
    return "certificate-authority file paths are not allowed, use certificate-authority-data for cluster " + name;
  if (!string_at(*cluster, {"server"}).starts_with("https://")) return std::string("untrusted server endpoint");
  // Both may have a password, which errors would show.
  if (string_at(*cluster, {"server"}).find('@') != std::string_view::npos)
    return "a user in the server URL is not allowed for cluster " + name;
  if (has_text(*cluster, "proxy-url")) return "proxy-url is not allowed for cluster " + name;
  return std::nullopt;
}

std::optional<std::string> refused_user(const Json& entry) {
  const Json* user = find(entry, "user");
  if (user == nullptr) return std::nullopt;
  if (has_text(*user, "tokenFile")) return std::string("tokenFile is not allowed");
  if (has_text(*user, "username") || has_text(*user, "password")) return std::string("basic auth is not allowed");
  const Json* exec = find(*user, "exec");
  if (exec != nullptr && !exec->is_null()) return std::string("exec plugins are not allowed");
  const Json* provider = find(*user, "auth-provider");
  if (provider != nullptr && !provider->is_null()) return std::string("auth providers are not allowed");
  if (has_text(*user, "client-certificate") || has_text(*user, "client-key"))
    return std::string("client-certificate and client-key file paths are not allowed, use the fields with -data");
  return std::nullopt;
}

}  // namespace

std::variant<kube::Access, Unusable> worker_access(std::string_view kubeconfig, const std::string& origin) {
  const auto documents = parse_yaml(kubeconfig, kKubeconfigLimits);
  // The parser's message may show a part of the text.
  if (!documents || documents->size() > 1) return insecure("it is no kubeconfig: expected one YAML document");
  if (documents->empty() || !documents->front().is_object() || array_at(documents->front(), {"clusters"}).empty())
    return insecure("it is no kubeconfig: expected clusters, users, contexts and current-context");
  const Json& config = documents->front();
  for (const Json& user : array_at(config, {"users"})) {
    if (auto why = refused_user(user)) return insecure(std::move(*why));
  }
  for (const Json& cluster : array_at(config, {"clusters"})) {
    if (auto why = refused_cluster(cluster)) return insecure(std::move(*why));
  }
  auto access = kube::load_kubeconfig(
      {origin}, {}, [&](const std::string&) -> Result<std::string> { return std::string(kubeconfig); });
  if (!access) return insecure(std::move(access.error().message));
  return std::move(*access);
}

}  // namespace berth::controller
