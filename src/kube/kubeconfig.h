// Where an API server is and who to be there: kubeconfig files, merged and resolved as kubectl does.
// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace berth::kube {

// A program that prints credentials (client.authentication.k8s.io ExecCredential).
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
struct ExecPlugin {
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::string command;      // a relative path with a slash is relative to the kubeconfig's folder
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // added to the environment
  std::string install_hint;
  bool provide_cluster_info = false;
  Json cluster_config;  // of the cluster's extension client.authentication.k8s.io/exec; null when there is none
};

// A PEM given inline, or in a file that is read again as it changes.
struct PemSource {
  std::string inline_pem;
  std::string file;
  bool empty() const { return inline_pem.empty() && file.empty(); }
};

struct Access {
  std::string server;  // https://host[:port][/prefix], without a slash at the end
  PemSource authority;  // empty: the system's
  bool insecure = false;  // insecure-skip-tls-verify
  std::string tls_server_name;  // checked instead of the host in `server`
  std::string proxy_url;        // http://[user:password@]host:port; empty: none
  PemSource certificate, key;   // of the client
  std::string token, token_file;  // the file counts when both are set, and is read again
  std::string username, password;
  std::optional<ExecPlugin> exec;
  std::string ns = "default";  // of the context
  std::string origin;          // for errors: `context "x" of /home/u/.kube/config`
};

// What a file holds; an error names the file and why it cannot be read.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
Result<std::string> read_file(const std::string& path);

// Several files are merged: the first that sets a name or the current context wins. Relative paths in a file are relative to
// its folder. Files that do not exist are skipped when there are several. `context` "": the current context.
Result<Access> load_kubeconfig(const std::vector<std::string>& files, std::string_view context = {},
                               const ReadFile& read = read_file);

// What --kubeconfig (may be "") and the environment mean: the flag, else the list in KUBECONFIG, else ~/.kube/config.
std::vector<std::string> kubeconfig_files(std::string_view flag, const char* kubeconfig_env, const char* home);

// A pod's own: the service account's token and authority, and the service's address from the environment. Both files are read again
// as they rotate. None when this is no pod.
std::optional<Access> in_cluster_access(const char* service_host, const char* service_port);

}  // namespace berth::kube
