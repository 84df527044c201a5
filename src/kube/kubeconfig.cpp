#include "kube/kubeconfig.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/base64.h"
#include "base/yaml.h"

namespace berth::kube {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

// An entry of a list, and the file it came from.
struct Entry {
  Json value;
  std::string file;
};
using Entries = std::map<std::string, Entry, std::less<>>;

struct Merged {
  Entries clusters, users, contexts;
  std::string current_context;
  std::vector<std::string> files;
};

std::string text_at(const Json& value, std::string_view key) { return std::string(string_at(value, {key})); }

std::string relative_to(const std::string& file, const std::string& path) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

void merge_list(const Json& config, std::string_view list, std::string_view member, const std::string& file,
                Entries& into) {
  for (const Json& entry : array_at(config, {list})) {
    const Json* value = find(entry, member);
    into.try_emplace(text_at(entry, "name"), Entry{value ? *value : Json(JsonObject()), file});
  }
}

Result<void> merge_file(const std::string& file, const std::string& text, Merged& merged) {
  const auto documents = parse_yaml(text);
  if (!documents) return fail(file + ": " + documents.error().message);
  if (documents->size() > 1 || (documents->size() == 1 && !documents->front().is_object()))
    return fail(file + ": expected one kubeconfig object");
  merged.files.push_back(file);
  if (documents->empty()) return {};
  const Json& config = documents->front();
  if (const auto kind = string_at(config, {"kind"}, "Config"); kind != "Config")
    return fail(file + ": kind: expected Config, found " + std::string(kind));
  merge_list(config, "clusters", "cluster", file, merged.clusters);
  merge_list(config, "users", "user", file, merged.users);
  merge_list(config, "contexts", "context", file, merged.contexts);
  if (merged.current_context.empty()) merged.current_context = text_at(config, "current-context");
  return {};
}

// Inline data wins over the file, as in kubectl.
Result<PemSource> pem_of(const Entry& entry, std::string_view key, const std::string& where) {
  PemSource pem;
  const std::string data_key = std::string(key) + "-data";
  if (const std::string data = text_at(entry.value, data_key); !data.empty()) {
    auto decoded = base64_decode(data);
    if (!decoded) return fail(entry.file + ": " + where + "." + data_key + ": expected base64");
    pem.inline_pem = std::move(*decoded);
  } else {
    pem.file = relative_to(entry.file, text_at(entry.value, key));
  }
  return pem;
}

Result<void> read_cluster(const std::string& name, const Entry& entry, Access& access) {
  const std::string where = "cluster \"" + name + "\"";
  access.server = text_at(entry.value, "server");
  while (access.server.ends_with('/')) access.server.pop_back();
  if (!access.server.starts_with("https://") && !access.server.starts_with("http://"))
    return fail(entry.file + ": " + where + ".server: expected https://HOST[:PORT], found \"" + access.server + "\"");
  auto authority = pem_of(entry, "certificate-authority", where);
  if (!authority) return tl::unexpected(authority.error());
  access.authority = std::move(*authority);
  access.insecure = bool_at(entry.value, {"insecure-skip-tls-verify"});
  if (access.insecure && !access.authority.empty())
    return fail(entry.file + ": " + where +
                ": a certificate authority and insecure-skip-tls-verify exclude each other");
  access.tls_server_name = text_at(entry.value, "tls-server-name");
  access.proxy_url = text_at(entry.value, "proxy-url");
  if (!access.proxy_url.empty() && !access.proxy_url.starts_with("http://"))
    return fail(entry.file + ": " + where + ".proxy-url: expected http://HOST:PORT, found \"" + access.proxy_url +
                "\"");
  return {};
}

Result<ExecPlugin> exec_of(const Json& value, const Entry& user, const Entry& cluster, const std::string& where) {
  ExecPlugin plugin;
  plugin.api_version = text_at(value, "apiVersion");
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1")
    return fail(where + ".apiVersion: expected client.authentication.k8s.io/v1 or v1beta1, found \"" +
                plugin.api_version + "\"");
  plugin.command = text_at(value, "command");
  if (plugin.command.empty()) return fail(where + ".command: must not be empty");
  if (plugin.command.find('/') != std::string::npos) plugin.command = relative_to(user.file, plugin.command);
  for (const Json& arg : array_at(value, {"args"})) {
    if (!arg.is_string()) return fail(where + ".args: expected strings");
    plugin.args.emplace_back(view(arg.get_string()));
  }
  for (const Json& variable : array_at(value, {"env"}))
    plugin.env.emplace_back(text_at(variable, "name"), text_at(variable, "value"));
  plugin.install_hint = text_at(value, "installHint");
  plugin.provide_cluster_info = bool_at(value, {"provideClusterInfo"});
  for (const Json& extension : array_at(cluster.value, {"extensions"})) {
    const Json* config = find(extension, "extension");
    if (config && string_at(extension, {"name"}) == kExecExtension) plugin.cluster_config = *config;
  }
  return plugin;
}

Result<void> read_user(const std::string& name, const Entry& entry, const Entry& cluster, Access& access) {
  const std::string where = "user \"" + name + "\"";
  auto certificate = pem_of(entry, "client-certificate", where);
  if (!certificate) return tl::unexpected(certificate.error());
  auto key = pem_of(entry, "client-key", where);
  if (!key) return tl::unexpected(key.error());
  if (certificate->empty() != key->empty())
    return fail(entry.file + ": " + where + ": client-certificate and client-key must be given together");
  access.certificate = std::move(*certificate);
  access.key = std::move(*key);
  access.token = text_at(entry.value, "token");
  access.token_file = relative_to(entry.file, text_at(entry.value, "tokenFile"));
  access.username = text_at(entry.value, "username");
  access.password = text_at(entry.value, "password");
  if (const Json* exec = find(entry.value, "exec"); exec && exec->is_object()) {
    auto plugin = exec_of(*exec, entry, cluster, entry.file + ": " + where + ".exec");
    if (!plugin) return tl::unexpected(plugin.error());
    access.exec = std::move(*plugin);
  }
  if (find(entry.value, "auth-provider") != nullptr)
    return fail(entry.file + ": " + where + ".auth-provider: Kubernetes removed these; use an exec plugin");
  return {};
}

std::string names_of(const Entries& entries) {
  std::string out;
  for (const auto& [name, entry] : entries) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

std::string list_of(const std::vector<std::string>& files) {
  std::string out;
  for (const auto& file : files) out += (out.empty() ? "" : ":") + file;
  return out;
}

Result<const Entry*> entry_of(const Entries& entries, const std::string& name, std::string_view kind,
                              const Merged& merged) {
  const auto it = entries.find(name);
  if (it != entries.end()) return &it->second;
  return fail(list_of(merged.files) + ": there is no " + std::string(kind) + " \"" + name +
              "\" (there are: " + names_of(entries) + ")");
}

}  // namespace

Result<Access> load_kubeconfig(const std::vector<std::string>& files, std::string_view context, const ReadFile& read) {
  Merged merged;
  std::string unreadable;
  for (const std::string& file : files) {
    const auto text = read(file);
    if (!text) {
      unreadable = text.error().message;
      continue;
    }
    if (auto done = merge_file(file, *text, merged); !done) return tl::unexpected(done.error());
  }
  if (merged.files.empty())
    return fail(unreadable.empty() ? "no kubeconfig: give --kubeconfig FILE or set KUBECONFIG" : unreadable);

  const std::string wanted = context.empty() ? merged.current_context : std::string(context);
  if (wanted.empty())
    return fail(list_of(merged.files) + ": current-context is not set (contexts: " + names_of(merged.contexts) + ")");
  Access access;
  const auto chosen = entry_of(merged.contexts, wanted, "context", merged);
  if (!chosen) return tl::unexpected(chosen.error());
  access.origin = "context \"" + wanted + "\" of " + (*chosen)->file;
  if (const std::string ns = text_at((*chosen)->value, "namespace"); !ns.empty()) access.ns = ns;
  const std::string cluster_name = text_at((*chosen)->value, "cluster"), user_name = text_at((*chosen)->value, "user");
  const auto cluster = entry_of(merged.clusters, cluster_name, "cluster", merged);
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto done = read_cluster(cluster_name, **cluster, access); !done) return tl::unexpected(done.error());
  if (user_name.empty()) return access;
  const auto user = entry_of(merged.users, user_name, "user", merged);
  if (!user) return tl::unexpected(user.error());
  if (auto done = read_user(user_name, **user, **cluster, access); !done) return tl::unexpected(done.error());
  return access;
}

std::vector<std::string> context_names(const std::string& file, const ReadFile& read) {
  std::vector<std::string> names;
  const auto text = read(file);
  if (!text) return names;
  Merged merged;
  if (!merge_file(file, *text, merged)) return names;
  for (const auto& [name, context] : merged.contexts) names.push_back(name);
  return names;
}

std::vector<std::string> kubeconfig_files(std::string_view flag, const char* kubeconfig_env, const char* home) {
  if (!flag.empty()) return {std::string(flag)};
  std::vector<std::string> files;
  std::stringstream list(kubeconfig_env ? kubeconfig_env : "");
  for (std::string file; std::getline(list, file, ':');) {
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  if (files.empty() && home != nullptr && *home != '\0') files.push_back(std::string(home) + "/.kube/config");
  return files;
}

std::optional<Access> in_cluster_access(const char* service_host, const char* service_port) {
  if (service_host == nullptr || *service_host == '\0' || service_port == nullptr || *service_port == '\0')
    return std::nullopt;
  Access access;
  std::string host = service_host;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  access.server = "https://" + host + ":" + service_port;
  access.authority.file = std::string(kServiceAccount) + "/ca.crt";
  access.token_file = std::string(kServiceAccount) + "/token";
  if (auto ns = read_file(std::string(kServiceAccount) + "/namespace"); ns && !ns->empty()) access.ns = *ns;
  access.origin = "the pod's service account";
  return access;
}

}  // namespace berth::kube
